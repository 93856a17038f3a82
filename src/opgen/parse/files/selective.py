"""Parse a selective-build YAML (`--select`) as a Selector. The older form of the file is a list of names."""

from __future__ import annotations

from opgen import data
from opgen.diagnostics import Diagnostics, Source, until_too_many
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.backend import WrittenName
from opgen.model.selector import SelectedOperator, Selector
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose
from opgen.parse.yaml.values import ValueReader

_KEYS = (
    *("operators", "include_all_operators", "include_all_non_op_selectives", "kernel_metadata"),
    *("et_kernel_metadata", "custom_classes", "build_features", "debug_info"),
)
_FLAGS = ("is_root_operator", "is_used_for_training", "include_all_overloads")
_OPERATOR_KEYS = ("name", *_FLAGS, "debug_info")


@until_too_many(Selector)
def parse_selective(source: Source, diagnostics: Diagnostics) -> Selector:
    """Parse a selection. Parts with errors are reported, and select nothing."""
    before = len(diagnostics)
    root = compose(source, diagnostics)
    if isinstance(root, MappingNode):
        return _read(ValueReader(root, "E0843", diagnostics))
    if isinstance(root, SequenceNode):
        empty = MappingNode(root.source, (), root.start, root.end)
        rule = "an item of a list of operators is a name"
        names = ValueReader(empty, "E0843", diagnostics).list_of(root, rule, rule, "str")
        return Selector(
            include_all_non_op_selectives=True,
            operators={name.text: SelectedOperator(name.text, span=name.span) for name in names},
        )
    if len(diagnostics) == before:
        span = source.start if root is None else root.span
        message = "a selective-build file is a mapping or a list of names"
        diagnostics.error("E0841", message, span, hint="write '{}' to select nothing")
    return Selector()


def _read(reader: ValueReader) -> Selector:
    reader.check_keys(_KEYS, "E0842")
    operators_or_none = [_read_operator(*pair, reader) for pair in reader.pairs("operators")]
    # These have no effect.
    _lists(reader, "et_kernel_metadata")
    for key in ("custom_classes", "build_features", "debug_info"):
        reader.scalars(key)
    return Selector(
        include_all_operators=reader.flag("include_all_operators", False),
        include_all_non_op_selectives=reader.flag("include_all_non_op_selectives", False),
        operators={o.name: o for o in operators_or_none if o is not None},
        kernel_metadata=_read_kernel_metadata(reader),
    )


def _read_operator(key: ScalarNode, value: Node, outer: ValueReader) -> SelectedOperator | None:
    if not isinstance(value, MappingNode):
        outer.report_type(value, f"'{shorten(key.value)}' takes a mapping, or '{{}}'")
        return None
    reader = ValueReader(value, "E0843", outer.diagnostics)
    reader.check_keys(_OPERATOR_KEYS, "E0842")
    name = reader.node.get("name")
    if name is not None and not (isinstance(name, ScalarNode) and name.value == key.value):
        message = f"'name' differs from its key '{shorten(key.value)}'"
        reader.diagnostics.error("E0844", message, name.span, labels=[(key.span, "the key")])
    overloads = [reader.flag(name, True) for name in _FLAGS][-1]
    reader.scalars("debug_info")
    return SelectedOperator(key.value, overloads, key.span)


def _read_kernel_metadata(reader: ValueReader) -> dict[str, tuple[str, ...]]:
    dtype_names = data.read_names("scalar_types.txt")
    metadata = {}
    for tag, dtypes in _lists(reader, "kernel_metadata"):
        metadata[tag] = tuple(map(str, dtypes))
        for dtype in dtypes:
            if dtype.text not in dtype_names:
                message = f"unknown element type '{shorten(dtype.text)}'"
                hint = did_you_mean(dtype.text, dtype_names)
                reader.diagnostics.warning("W1841", message, dtype.span, hint=hint)
    return metadata


def _lists(reader: ValueReader, key: str) -> list[tuple[str, tuple[WrittenName, ...]]]:
    """Return the pairs of a mapping from names to lists of scalars."""
    rule = f"the value of a name in '{key}' is"
    return [
        (name.value, reader.list_of(value, f"{rule} a list", f"{rule} a list of strings", None))
        for name, value in reader.pairs(key)
    ]
