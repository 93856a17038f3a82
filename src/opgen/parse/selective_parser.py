"""The text of a selective-build YAML (`--select`) into a Selector. The older form is a list of names."""

from __future__ import annotations

from opgen import data
from opgen.diagnostics import Diagnostics, Source, until_too_many
from opgen.model.backend import WrittenName
from opgen.model.selector import SelectedOperator, Selector
from opgen.parse import codes_selective as codes
from opgen.parse.names import did_you_mean, shorten
from opgen.parse.value_reader import ValueReader
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, compose

_KEYS = (
    *("operators", "include_all_operators", "include_all_non_op_selectives", "kernel_metadata"),
    *("et_kernel_metadata", "custom_classes", "build_features", "debug_info"),
)
_FLAGS = ("is_root_operator", "is_used_for_training", "include_all_overloads")
_OPERATOR_KEYS = ("name", *_FLAGS, "debug_info")


@until_too_many(Selector)
def parse_selective(source: Source, diagnostics: Diagnostics) -> Selector:
    """What `source` selects; what it says wrongly is reported, and selects nothing."""
    before = len(diagnostics)
    root = compose(source, diagnostics)
    if isinstance(root, MappingNode):
        return _read(ValueReader(root, codes.E0843, diagnostics))
    if isinstance(root, SequenceNode):
        return _read_names(root, diagnostics)
    if len(diagnostics) == before:
        span = source.start if root is None else root.span
        message = "a selective-build file is a mapping or a list of names"
        diagnostics.error(codes.E0841, message, span, hint="write '{}' to select nothing")
    return Selector()


def _read(reader: ValueReader) -> Selector:
    reader.check_keys(_KEYS, codes.E0842)
    operators = reader.mapping("operators")
    pairs = () if operators is None else operators.pairs
    found = [_read_operator(key, value, reader) for key, value in pairs]
    return Selector(
        include_all_operators=reader.flag("include_all_operators", False),
        include_all_non_op_selectives=reader.flag("include_all_non_op_selectives", False),
        operators={o.name: o for o in found if o is not None},
        kernel_metadata=_read_kernel_metadata(reader),
        et_kernel_metadata={
            tag: tuple(map(str, items)) for tag, items in _lists(reader, "et_kernel_metadata")
        },
        custom_classes=frozenset(reader.texts("custom_classes")),
        build_features=frozenset(reader.texts("build_features")),
        debug_info=_debug_info(reader),
    )


def _read_operator(key: ScalarNode, value: Node, outer: ValueReader) -> SelectedOperator | None:
    if not isinstance(value, MappingNode):
        outer.refuse(value, f"'{shorten(key.value)}' takes a mapping, or '{{}}'")
        return None
    reader = ValueReader(value, codes.E0843, outer.diagnostics)
    reader.check_keys(_OPERATOR_KEYS, codes.E0842)
    _check_name(key, reader)
    return SelectedOperator(
        name=key.value,
        is_root_operator=reader.flag("is_root_operator", True),
        is_used_for_training=reader.flag("is_used_for_training", True),
        include_all_overloads=reader.flag("include_all_overloads", True),
        debug_info=_debug_info(reader),
        span=key.span,
    )


def _check_name(key: ScalarNode, reader: ValueReader) -> None:
    value = reader.node.get("name")
    if value is None or (isinstance(value, ScalarNode) and value.value == key.value):
        return
    message = f"'name' is not the key '{shorten(key.value)}' that it stands under"
    reader.diagnostics.error(codes.E0844, message, value.span, labels=[(key.span, "the key")])


def _debug_info(reader: ValueReader) -> tuple[str, ...] | None:
    return None if reader.node.get("debug_info") is None else reader.texts("debug_info")


def _read_kernel_metadata(reader: ValueReader) -> dict[str, tuple[str, ...]]:
    known = data.read_names("scalar_types.txt")
    metadata = {}
    for tag, dtypes in _lists(reader, "kernel_metadata"):
        metadata[tag] = tuple(map(str, dtypes))
        for dtype in dtypes:
            if dtype.text not in known:
                message = f"unknown element type '{shorten(dtype.text)}'"
                hint = did_you_mean(dtype.text, known)
                reader.diagnostics.warning(codes.W1841, message, dtype.span, hint=hint)
    return metadata


def _lists(reader: ValueReader, key: str) -> list[tuple[str, tuple[WrittenName, ...]]]:
    """The pairs of a mapping from names to lists of scalars."""
    node = reader.mapping(key)
    rule = f"what stands under a name in '{key}' is"
    return [
        (name.value, reader.list_of(value, f"{rule} a list", f"{rule} a list of texts", None))
        for name, value in (() if node is None else node.pairs)
    ]


def _read_names(root: SequenceNode, diagnostics: Diagnostics) -> Selector:
    """The older form: root operators, not for training, with all overloads and all element types."""
    nothing = MappingNode(root.source, (), root.start, root.end)
    rule = "an item of a list of operators is a name"
    names = ValueReader(nothing, codes.E0843, diagnostics).list_of(root, rule, rule, "str")
    return Selector(
        include_all_non_op_selectives=True,
        operators={
            name.text: SelectedOperator(name.text, is_used_for_training=False, span=name.span)
            for name in names
        },
    )
