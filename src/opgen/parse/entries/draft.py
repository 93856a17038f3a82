"""An entry while its keys are read: filled by `key_readers`, checked by `rules`; and edits of its text.

An edit is None if the layout allows more than one way to write the result, or if a comment would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import FunctionSchema
from opgen.model.native_function import EntrySpans, NativeFunction
from opgen.model.profile import ATEN, Profile, TagSet
from opgen.parse.entries.header import FileHeader
from opgen.parse.schema.grammar import SchemaCache
from opgen.parse.schema.text import align, misplaced_blanks
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_BREAK = re.compile(r"\r\n|\r|\n")
_BEFORE_KEY = re.compile(r" *(?:- +)?")
_HEADER = re.compile(r"[|>][0-9+]*")
_BLOCKS = ("|", ">")


def strip_line_end(node: ScalarNode) -> Edit | None:
    """Remove the line end that is part of a block scalar: `|` becomes `|-`."""
    header = _HEADER.match(node.source.text, node.start)
    if node.style not in _BLOCKS or header is None:
        return None
    stripped = header.group().replace("+", "") + "-"
    return Edit(Span(node.source, node.start, header.end()), stripped)


def _margin(node: MappingNode, key: ScalarNode) -> str | None:
    """Return the text before the key on its line; None unless `node` is a block mapping and the key is first there."""
    text = node.source.text
    if not node.start <= key.start < node.end or text[node.start] == "{":
        return None
    before = text[_line_start(node.source, key.start) : key.start]
    return before if _BEFORE_KEY.fullmatch(before) else None


def _last_scalar(node: Node) -> ScalarNode | None:
    """Return the last scalar of a block; None if the block ends with a flow collection or an empty one."""
    match node:
        case ScalarNode():
            return node
        case MappingNode():
            if node.source.text[node.start] == "{" or not node.pairs:
                return None
            return _last_scalar(node.pairs[-1][1])
        case SequenceNode():
            if node.source.text[node.start] == "[" or not node.items:
                return None
            return _last_scalar(node.items[-1])


def _line_start(source: Source, position: int) -> int:
    text = source.text
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def _line_end(source: Source, position: int) -> int:
    line_break = _BREAK.search(source.text, position)
    return len(source.text) if line_break is None else line_break.start()


def _newline(source: Source, position: int) -> str:
    """Return the line end at `position`; at the end of the text, that of its first line."""
    line_break = _BREAK.match(source.text, position) or _BREAK.search(source.text)
    return "\n" if line_break is None else line_break.group()


class NodeSpans(EntrySpans, Struct, frozen=True):
    """The spans of an entry's parts, looked up in its nodes on demand.

    `canonical` is the canonical text of the value of `func`; empty if that is how it is written. `schema_start` is the
    offset in it of the schema, after the namespace.
    """

    node: MappingNode
    schema_start: int = 0
    canonical: str = ""

    def __repr__(self) -> str:
        return f"NodeSpans({self.node.source!r}, {self.node.start})"

    @property
    def entry(self) -> Span:
        return Span(self.node.source, self.node.start, self.node.end)

    def key(self, name: str) -> Span:
        """Return the span of the key `name`; without it, that of the operator's name."""
        key_node = self.node.key_node(name)
        return self.schema_name() if key_node is None else key_node.span

    def value(self, name: str) -> Span:
        """Return the span of the value of the key `name`; without it, that of the operator's name."""
        value = self.node.get(name)
        return self.schema_name() if value is None else value.span

    def item(self, name: str, item: str) -> Span:
        """Return the span of an item in the list that is the value of the key `name`.

        The list is a YAML list, or a string with `, ` between its items. Without the item, the span of the value.
        """
        value = self.node.get(name)
        nodes = value.items if isinstance(value, SequenceNode) else (value,)
        for node in nodes:
            if isinstance(node, ScalarNode):
                for part, start, end in spaced_parts(node.value):
                    if part == item:
                        return node.part(start, end)
        return self.value(name)

    def dispatch_key(self, key: DispatchKey) -> Span:
        """Return the span of a key in the dispatch table; without it, that of the key `dispatch`."""
        row = self._dispatch_row(key)
        return self.key("dispatch") if row is None else row[0]

    def kernel(self, key: DispatchKey) -> Span:
        """Return the span of the kernel for `key`; without it, that of the key `dispatch`."""
        row = self._dispatch_row(key)
        return self.key("dispatch") if row is None else row[1]

    def schema(self, start: int, end: int) -> Span:
        """Return the span of the characters `start` to `end` of the schema, in its canonical spelling."""
        func = self.node.get("func")
        if not isinstance(func, ScalarNode):
            return self.node.span
        start, end = self.schema_start + start, self.schema_start + end
        if self.canonical:
            places = align(self.canonical, func.value)
            begin = places[start]
            start, end = begin, max(begin, places[end - 1] + 1) if end > start else begin
        return func.part(start, end)

    def schema_name(self) -> Span:
        """Return the span of the operator's name; without a valid `func`, that of the entry's first line."""
        func = self.node.get("func")
        if not isinstance(func, ScalarNode):
            return self.node.span
        text = self.canonical or func.value
        length = text.find("(", self.schema_start)
        return self.schema(0, max(length, self.schema_start) - self.schema_start)

    def add_key(self, text: str) -> Edit | None:
        """Add the lines `text`, a key and its value separated by `\\n`, after those of `func`."""
        node = self.node
        key, value = node.key_node("func"), node.get("func")
        if key is None or not isinstance(value, ScalarNode) or value.style in _BLOCKS:
            return None
        source = node.source
        margin = _margin(node, key)
        if margin is None or not node.start <= value.start < node.end:
            return None
        end = _line_end(source, value.end)
        newline = _newline(source, end)
        added = "".join(f"{newline}{' ' * len(margin)}{line}" for line in text.split("\n"))
        return Edit(Span(source, end, end), added)

    def remove_key(self, name: str) -> Edit | None:
        """Remove the lines of the key `name` and its value."""
        node = self.node
        key, value = node.key_node(name), node.get(name)
        if key is None or value is None:
            return None
        margin, last = _margin(node, key), _last_scalar(value)
        if margin is None or "-" in margin or last is None or last.style in _BLOCKS:
            return None
        source, text = node.source, node.source.text
        start, end = key.start - len(margin), _line_end(source, max(last.end, key.end))
        if "#" in text[start:end] or not key.start <= last.start <= node.end:
            return None
        after = _BREAK.match(text, end)
        if after is not None:
            return Edit(Span(source, start, after.end()), "")
        # The last line of the file has no line end: remove that of the line before.
        before = 2 if text.endswith("\r\n", 0, start) else 1
        return Edit(Span(source, start - before, end), "")

    def add_tag(self, tag: str) -> Edit | None:
        """Add a tag in the form in which the others are written."""
        node = self.node
        value = node.get("tags")
        if value is None:
            return self.add_key(f"tags: {tag}")
        if not node.start <= value.start < node.end:
            return None
        source = node.source
        if isinstance(value, ScalarNode):
            written = source.text[value.start : value.end]
            if value.style in _BLOCKS or _BREAK.search(written):
                return None
            return Edit(value.whole_span, f"[{written}, {tag}]")
        last = value.items[-1] if isinstance(value, SequenceNode) and value.items else None
        if not isinstance(last, ScalarNode) or last.style in _BLOCKS:
            return None
        if source.text[value.start] == "[":
            return Edit(Span(source, last.end, last.end), f", {tag}")
        before = source.text[_line_start(source, last.start) : last.start]
        end = _line_end(source, last.end)
        if before.strip(" ") != "-":
            return None
        return Edit(Span(source, end, end), f"{_newline(source, end)}{before}{tag}")

    def misplaced_blanks(self) -> tuple[Edit, ...]:
        """Return edits that give the schema its canonical white space; line ends are kept."""
        func = self.node.get("func")
        if not self.canonical or not isinstance(func, ScalarNode):
            return ()
        # The line ends of a block scalar are the author's layout of a long schema.
        text = func.value
        blanks = [
            b for b in misplaced_blanks(self.canonical, text) if "\n" not in text[b[0] : b[1]]
        ]
        if not blanks:
            return ()
        whole = func.part(blanks[0][0], blanks[-1][1])
        if whole.text == text[blanks[0][0] : blanks[-1][1]]:
            parts = [blanks[0][2]]
            for (_, end, _), (start, _, blank) in pairwise(blanks):
                parts += (text[end:start], blank)
            return (Edit(whole, "".join(parts)),)
        edits = (Edit(func.part(start, end), blank) for start, end, blank in blanks)
        return tuple(edit for edit in edits if not edit.span.text.strip())

    def _dispatch_row(self, key: DispatchKey) -> tuple[Span, Span] | None:
        table = self.node.get("dispatch")
        if not isinstance(table, MappingNode):
            return None
        for name, kernel in table.pairs:
            for start, end in comma_parts(name.value):
                if name.value[start:end] == key.name:
                    return name.part(start, end), kernel.span
        return None


def comma_parts(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the parts between commas, without white space around them."""
    parts = []
    start = 0
    for part in text.split(","):
        begin = start + len(part) - len(part.lstrip())
        parts.append((begin, begin + len(part.strip())))
        start += len(part) + 1
    return parts


def spaced_parts(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the parts between `, `, each with its range."""
    start = 0
    for part in text.split(", "):
        yield part, start, start + len(part)
        start += len(part) + 2


class EntryContext(Struct, frozen=True):
    """The settings for all entries of a file. Rows for `ignore_keys` are dropped from dispatch tables.

    With `strict_torchgen`, torchgen's rules hold for every namespace, and opgen's extensions of the language are
    errors. `namespace` is that of operators written without one. `no_outless` is not None if only out variants can be
    structured; it then ends the message, such as "in torchgen's language".
    """

    tags: TagSet
    ignore_keys: Collection[DispatchKey]
    diagnostics: Diagnostics
    cache: SchemaCache = field(default_factory=SchemaCache)
    strict_torchgen: bool = False
    namespace: str = ATEN
    header: FileHeader = field(default_factory=FileHeader)
    no_outless: str | None = None

    def profile(self, namespace: str) -> Profile:
        """Return the profile of operators in `namespace`."""
        follows_torchgen = namespace == ATEN or self.strict_torchgen
        return Profile.torchgen if follows_torchgen else Profile.library


class Draft(Struct):
    """An entry being read: the `values` of its keys that are valid, by name, and the `bad` keys."""

    context: EntryContext
    spans: NodeSpans
    bad: set[str] = field(default_factory=set)
    func: FunctionSchema | None = None
    namespace: str = ATEN
    profile: Profile = Profile.torchgen
    values: dict[str, Any] = field(default_factory=dict)
    has_ignored_rows: bool = False

    def is_written(self, key: str) -> bool:
        """Return whether the entry has a key, with a value other than null."""
        value = self.spans.node.get(key)
        return value is not None and value.kind != "null"

    def function(self, func: FunctionSchema) -> NativeFunction:
        """Return the operator with the values that were written."""
        header = self.context.header
        return NativeFunction(
            self.namespace,
            func,
            self.spans,
            includes=header.include,
            shares_namespace=header.fragment,
            has_ignored_rows=self.has_ignored_rows,
            **{"fake_module": header.fake_module, **self.values},
        )


def default_kernel_name(func: FunctionSchema) -> str:
    """Return the name of the kernel of an entry that names none: the operator's name, without its overload."""
    return f"{func.name.name}_out" if func.is_out_fn() else str(func.name.name)
