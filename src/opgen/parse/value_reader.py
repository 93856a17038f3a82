"""The values of a mapping's keys by type, for files that are one mapping; what is of another type is reported."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.backend import WrittenName
from opgen.parse.names import did_you_mean, shorten
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, describe


@dataclass(frozen=True, slots=True)
class ValueReader:
    """Reads `node`. A value of the wrong type is reported as `wrong_type`, and its default returned."""

    node: MappingNode
    wrong_type: Code
    diagnostics: Diagnostics

    def check_keys(self, known: Iterable[str], unknown: Code, hint: str | None = None) -> None:
        """Report every key that is not `known`."""
        known = tuple(known)
        for key, _ in self.node.pairs:
            if key.value not in known:
                message = f"unknown key '{shorten(key.value)}'"
                near = did_you_mean(key.value, known) or hint
                self.diagnostics.error(unknown, message, key.span, hint=near)

    def flag(self, key: str, default: bool) -> bool:
        value = self.node.get(key)
        if value is None:
            return default
        if isinstance(value, ScalarNode) and value.kind == "bool":
            return value.is_true
        self.refuse(value, f"'{key}' takes true or false")
        return default

    def name(self, key: str) -> WrittenName | None:
        """A text; None if it is missing or null."""
        value = self.node.get(key)
        if value is None or value.kind == "null":
            return None
        return self.text(value, f"'{key}' takes a text")

    def names(self, key: str, *, null: bool) -> tuple[WrittenName, ...]:
        """A list of texts. With `null`, nothing stands for the empty list."""
        value = self.node.get(key)
        if value is None or (null and value.kind == "null"):
            return ()
        return self.list_of(value, f"'{key}' takes a list", f"an item of '{key}' is a text", "str")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of scalars of any type, as they are written."""
        value = self.node.get(key)
        if value is None:
            return ()
        found = self.list_of(value, f"'{key}' takes a list", f"an item of '{key}' is a text", None)
        return tuple(item.text for item in found)

    def mapping(self, key: str) -> MappingNode | None:
        value = self.node.get(key)
        if value is None or isinstance(value, MappingNode):
            return value
        self.refuse(value, f"'{key}' takes a mapping")
        return None

    def list_of(
        self, value: Node, list_rule: str, item_rule: str, kind: str | None
    ) -> tuple[WrittenName, ...]:
        """The items of a list of scalars of one kind, or of any."""
        if not isinstance(value, SequenceNode):
            self.refuse(value, list_rule)
            return ()
        items = (self.text(item, item_rule, kind) for item in value.items)
        return tuple(item for item in items if item is not None)

    def text(self, value: Node, rule: str, kind: str | None = "str") -> WrittenName | None:
        if isinstance(value, ScalarNode) and kind in (None, value.kind):
            return WrittenName(value.value, value.span)
        self.refuse(value, rule)
        return None

    def refuse(self, value: Node, rule: str) -> None:
        message = f"{rule}, but this is {describe(value)}"
        self.diagnostics.error(self.wrong_type, message, value.span)
