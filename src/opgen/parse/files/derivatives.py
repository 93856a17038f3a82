"""Parse derivatives.yaml: the formulas of the gradients, and their places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.diagnostics import Diagnostics, Source, Span, until_too_many
from opgen.diagnostics.suggestions import shorten
from opgen.model.backend import WrittenName
from opgen.model.derivatives import (
    DEFAULT_KEY,
    DerivativeEntry,
    DerivativesFile,
    FormulaRow,
    FormulaTable,
    WrittenFormula,
)
from opgen.parse.entries.header import split_header
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose, describe

_TOKEN = re.compile(
    r"""(?P<whole> //[^\n]* | /\*.*?\*/ | R"(?P<tag>[^\s()\\"]{0,16})\(.*?\)(?P=tag)"
        | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)+' | \d(?:'?[\w.])* )
    | (?P<opening>[(\[{]) | (?P<closing>[)\]}]) | (?P<unclosed>/\*|["'])
    | (?P<joining>\\[ \t\r]*(?:\n|\Z))""",
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def _find_unclosed(expression: str) -> tuple[int, int, str] | None:
    """Return the first part of an expression that is not closed, or closes nothing, and a message; None if all is.

    Compilers report such a thing where the file ends, hundreds of lines after the expression.
    """
    opened: list[re.Match[str]] = []
    for token in _TOKEN.finditer(expression):
        text = token[0]
        match token.lastgroup:
            case "opening":
                opened.append(token)
            case "closing" if opened and _PAIRS[opened[-1][0]] == text:
                opened.pop()
            case "closing":
                against = f", and '{opened[-1][0]}' is open" if opened else ""
                return *token.span(), f"'{text}' closes nothing{against}"
            case "unclosed":
                what = "comment" if text == "/*" else "quote"
                return *token.span(), f"the {what} is not closed"
            case "joining":
                message = "a backslash at the end of a line continues the line"
                return token.start(), token.start() + 1, message
    if opened:
        return *opened[-1].span(), f"'{opened[-1][0]}' is not closed"
    return None


_ENTRY_KEYS = ("name", "output_differentiability", "dispatch")
_NAME = re.compile(r"[^,]+")


@until_too_many(lambda: DerivativesFile(()))
def parse_derivatives(
    source: Source, diagnostics: Diagnostics, *, strict_torchgen: bool = False
) -> DerivativesFile:
    """Parse a file of derivatives. An entry with errors is left out; the others are kept.

    With `strict_torchgen`, a header of the file is an error.
    """
    root = compose(source, diagnostics)
    if root is None:
        return DerivativesFile(())
    if not isinstance(root, SequenceNode):
        hint = "begin each entry with '- name:' and the schema of an operator"
        diagnostics.error("E1201", "this file is a list of entries", root.span, hint=hint)
        return DerivativesFile(())
    file = split_header(root, diagnostics, strict_torchgen=strict_torchgen, of_formulas=True)
    header = file.header
    entries = [_EntryReader(diagnostics, header.namespace).read(node) for node in file.entries]
    return DerivativesFile(tuple(entry for entry in entries if entry is not None), header.include)


class _EntryReader:
    """Reads one entry, and remembers whether it has errors."""

    def __init__(self, diagnostics: Diagnostics, namespace: str | None) -> None:
        self.diagnostics = diagnostics
        self.namespace = namespace
        self.failed = False

    def read(self, node: Node) -> DerivativeEntry | None:
        if not isinstance(node, MappingNode):
            self._error("an entry is a mapping with 'name' and formulas", node)
            return None
        name = self._name(node)
        differentiability, condition, output_span = self._outputs(node)
        dispatch = node.get("dispatch")
        if dispatch is None:
            key = WrittenName(DEFAULT_KEY, node.span)
            rows = tuple(self._rows((k, v) for k, v in node.pairs if k.value not in _ENTRY_KEYS))
            tables: tuple[FormulaTable, ...] = (FormulaTable(key, rows),)
        else:
            tables = tuple(self._tables(node, dispatch))
        if self.failed or name is None:
            return None
        return DerivativeEntry(
            name, tables, differentiability, condition, output_span, node.span, self.namespace
        )

    def _name(self, node: MappingNode) -> WrittenName | None:
        value = node.get("name")
        if value is None:
            hint = "add 'name:' with the schema of an operator, exactly as in its entry"
            self._report("E1202", "this entry has no 'name'", node.span, hint)
            return None
        if not isinstance(value, ScalarNode) or value.kind == "null" or not value.value:
            self._error("'name' is the schema of an operator", value)
            return None
        return WrittenName(value.value, value.span)

    def _outputs(
        self, node: MappingNode
    ) -> tuple[tuple[bool, ...] | None, WrittenFormula | None, Span | None]:
        value = node.get("output_differentiability")
        if value is None:
            return None, None, None
        if not isinstance(value, SequenceNode):
            self._error("'output_differentiability' is a list with an item for each output", value)
            return None, None, None
        items = [item for item in value.items if isinstance(item, ScalarNode)]
        conditions = [item for item in items if item.kind != "bool"]
        if len(items) < len(value.items):
            rule = "an item of 'output_differentiability' is true, false or a C++ condition"
            self._error(rule, next(i for i in value.items if not isinstance(i, ScalarNode)))
        elif conditions and len(items) > 1:
            message = "a condition decides about the single output of an operator"
            hint = "write true or false for each output"
            self._report("E1205", message, conditions[0].span, hint)
        elif conditions:
            return (True,), self._formula(conditions[0]), value.span
        # torchgen treats an empty list like a missing one.
        return tuple(item.is_true for item in items) or None, None, value.span

    def _tables(self, node: MappingNode, dispatch: Node) -> Iterator[FormulaTable]:
        for key, _ in node.pairs:
            if key.value not in _ENTRY_KEYS:
                message = f"'{shorten(key.value)}' is outside of 'dispatch', where it has no effect"
                hint = f"write it under a key of 'dispatch', such as {DEFAULT_KEY}"
                self._report("E1204", message, key.span, hint)
        if not isinstance(dispatch, MappingNode):
            self._error("'dispatch' maps dispatch keys to formulas", dispatch)
            return
        for key, value in dispatch.pairs:
            if isinstance(value, MappingNode):
                rows = tuple(self._rows(iter(value.pairs)))
                yield FormulaTable(WrittenName(key.value, key.span), rows)
            else:
                self._error(f"'{shorten(key.value)}' maps arguments to formulas", value)

    def _rows(self, pairs: Iterator[tuple[ScalarNode, Node]]) -> Iterator[FormulaRow]:
        for key, value in pairs:
            names = tuple(_split(key))
            if not names or any(not name.text for name in names):
                message = "a key names arguments or outputs, separated by commas"
                self._report("E1203", message, key.span, None)
            elif not isinstance(value, ScalarNode) or value.kind != "str":
                rule = f"the formula of '{shorten(key.value)}' is a C++ expression"
                hint = (
                    None
                    if not isinstance(value, ScalarNode) or value.kind == "null"
                    else f"write '{value.value}' in quotes if it is the formula"
                )
                self._error(rule, value, hint)
            else:
                yield FormulaRow(key.value, names, self._formula(value))

    def _formula(self, node: ScalarNode) -> WrittenFormula:
        unclosed = _find_unclosed(node.value)
        if unclosed is not None:
            start, end, message = unclosed
            self._report("E1206", f"in this formula, {message}", node.part(start, end), None)
        return WrittenFormula(node.value, node)

    def _error(self, rule: str, node: Node, hint: str | None = None) -> None:
        self._report("E1203", f"{rule}, but this is {describe(node)}", node.span, hint)

    def _report(self, code: str, message: str, span: Span, hint: str | None) -> None:
        self.failed = True
        self.diagnostics.error(code, message, span, hint=hint)


def _split(key: ScalarNode) -> Iterator[WrittenName]:
    """Yield the names of a key: `self, other`."""
    for match in _NAME.finditer(key.value):
        text = match[0].strip()
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        yield WrittenName(text, key.part(start, start + len(text)))
