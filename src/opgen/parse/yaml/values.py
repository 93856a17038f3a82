"""Read the values of a mapping by type, and report values of other types, and files for other programs or options."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.diagnostics.suggestions import meant, shorten
from opgen.model.backend import WrittenName
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, describe


class ValueReader(Struct, frozen=True):
    """Reads the values of `node`. One of the wrong type is reported with the code `wrong_type`, and its default is
    returned."""

    node: MappingNode
    wrong_type: str
    diagnostics: Diagnostics

    def check_keys(self, known: Iterable[str], unknown: str, hint: str | None = None) -> None:
        """Report every key that is not `known` with the code `unknown`.

        The hint is the nearest known key if there is one, else `hint`.
        """
        known = tuple(known)
        for key, _ in self.node.pairs:
            if key.value not in known:
                message = f"unknown key '{shorten(key.value)}'"
                near, only = meant(key.value, known)
                fix = Edit(key.span, only) if only is not None and not key.style else None
                self.diagnostics.error(unknown, message, key.span, hint=near or hint, fix=fix)

    def flag(self, key: str, default: bool) -> bool:
        value = self.node.get(key)
        if value is None:
            return default
        if isinstance(value, ScalarNode) and value.kind == "bool":
            return value.is_true
        self.report_type(value, f"'{key}' takes true or false")
        return default

    def name(self, key: str) -> WrittenName | None:
        """Return a string; None if it is missing or null."""
        value = self.node.get(key)
        if value is None or value.kind == "null":
            return None
        return self.scalar(value, f"'{key}' takes a string")

    def names(self, key: str, *, null: bool) -> tuple[WrittenName, ...]:
        """Return a list of strings. With `null`, an empty value stands for the empty list."""
        value = self.node.get(key)
        if value is None or (null and value.kind == "null"):
            return ()
        return self.list_of(
            value, f"'{key}' takes a list", f"an item of '{key}' is a string", "str"
        )

    def scalars(self, key: str) -> tuple[str, ...]:
        """Return a list of scalars of any type, as they are written."""
        value = self.node.get(key)
        if value is None:
            return ()
        items = self.list_of(
            value, f"'{key}' takes a list", f"an item of '{key}' is a string", None
        )
        return tuple(item.text for item in items)

    def mapping(self, key: str) -> MappingNode | None:
        value = self.node.get(key)
        if value is None or isinstance(value, MappingNode):
            return value
        self.report_type(value, f"'{key}' takes a mapping")
        return None

    def pairs(self, key: str) -> tuple[tuple[ScalarNode, Node], ...]:
        """Return the pairs of a mapping; none if it is missing."""
        node = self.mapping(key)
        return () if node is None else node.pairs

    def list_of(
        self, value: Node, list_rule: str, item_rule: str, kind: str | None
    ) -> tuple[WrittenName, ...]:
        """Return the items of a list of scalars of one `kind`, or of any if it is None.

        `list_rule` and `item_rule` begin the message if the value, or an item, has another type.
        """
        if not isinstance(value, SequenceNode):
            self.report_type(value, list_rule)
            return ()
        items = (self.scalar(item, item_rule, kind) for item in value.items)
        return tuple(item for item in items if item is not None)

    def scalar(self, value: Node, rule: str, kind: str | None = "str") -> WrittenName | None:
        """Return a scalar of one `kind`, or of any if it is None."""
        if isinstance(value, ScalarNode) and kind in (None, value.kind):
            return WrittenName(value.value, value.span)
        self.report_type(value, rule)
        return None

    def report_type(self, value: Node, rule: str) -> None:
        """Report a value of the wrong type. The message begins with `rule`."""
        message = f"{rule}, but this is {describe(value)}"
        self.diagnostics.error(self.wrong_type, message, value.span)


_ENTRY = re.compile(r"^ *- (?:func|name|op|tag): ", re.MULTILINE)


class _Kind(Struct, frozen=True):
    """A kind of file, and what at least half of its entries, and at least two, have."""

    name: str
    sign: re.Pattern[str]
    hint: str | None = None


def _kind(name: str, sign: str, hint: str | None = None) -> _Kind:
    return _Kind(name, re.compile(sign, re.MULTILINE), hint)


_DERIVATIVES = _kind(
    "a list of derivatives (derivatives.yaml)",
    r"^ +\w+(?:, \w+)*(?=: .*\b(?:grads?|auto_linear|auto_element_wise)\b)",
    "it is read with the file of the operators beside it, or with --derivatives",
)
_KINDS = (
    _kind("a list of ExecuTorch's kernels (functions.yaml)", r"\bkernel_name(?=:)"),
    _kind("ExecuTorch's list of edge operators (edge.yaml)", r"^ +type_constraint(?=:)"),
    _kind("a list of Ascend's operators", r"^ +(?:acl_op|op_api|gen_opapi)(?=:)"),
    _kind(
        "a native_functions.yaml from before PyTorch 2.0",
        r"^ +(?:use_c10_dispatcher|supports_named_tensor|matches_jit_signature)(?=:)",
    ),
    _DERIVATIVES,
    _kind("a list of deprecated signatures (deprecated.yaml)", r"^ +aten(?=: \w+\()"),
    _kind("a file of tags (tags.yaml)", r"(?<=^- )tag(?=: )", "pass it by --tags"),
)
_BACKEND = _kind(
    "a backend file", r"^(?:backend|cpp_namespace|supported)(?=:)", "pass it by --backend-yaml"
)
_SCHEMA = _kind("a schema file", r"(?<=^- )func(?=: .*\()", "pass it without an option")


def report_derivatives(place: Span, diagnostics: Diagnostics) -> bool:
    """If entries with names instead of schemas have a formula, report a derivatives.yaml as the only error of the file."""
    if not _DERIVATIVES.sign.search(place.source.text):
        return False
    diagnostics.forget(place.source)
    message = f"this is {_DERIVATIVES.name}, not a schema file"
    diagnostics.error("E0113", message, place, hint=_DERIVATIVES.hint)
    return True


def report_other_kind(source: Source, diagnostics: Diagnostics, *, backend: bool = False) -> bool:
    """Replace all diagnostics of a file with errors by one if it is of another kind, and return whether it is.

    `backend` is whether a backend file is expected, else it is a schema file.
    """
    half = len(_ENTRY.findall(source.text)) / 2
    for kind in (*_KINDS, _SCHEMA if backend else _BACKEND):
        signs = list(kind.sign.finditer(source.text))
        if len(signs) > 1 and len(signs) >= half:
            expected = "a backend file" if backend else "a schema file"
            span = Span(source, signs[0].end() - len(signs[0].group().lstrip(" ")), signs[0].end())
            diagnostics.forget(source)
            diagnostics.error("E0113", f"this is {kind.name}, not {expected}", span, hint=kind.hint)
            return True
    return False
