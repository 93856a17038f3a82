"""A schema file as it is being typed, into its entries and keys, line by line, without parsing it.

What a language server is asked most is asked of texts that are not YAML at the moment. The outline
knows of indentation and colons only, so a broken entry does not hide the others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

from opgen.dataclasses import dataclass
from opgen.diagnostics import Source, Span
from opgen.parse.entry_keys import HEAD_KEYS

_ENTRY = re.compile(r"^( *)-( +|$)")
_KEY = re.compile(r"([A-Za-z_]\w*)[ \t]*:(?=[ \t]|$)[ \t]*")
_NAME = re.compile(r"[>|]?[-+\d]*\s*(?:['\"]\s*)?([A-Za-z_][\w:.]*)")
_WORD = re.compile(r"[\w.:]+")
_LISTED = re.compile(r"^ *- +func *:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an entry: the numbers of its lines (from 0, end exclusive), and where it stands."""

    name: str
    first: int
    end: int
    span: Span
    value: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry, or the head of the file. Its keys begin at column `indent`.

    `name` is as `func` has it; None if it has none. `bare` is the namespace of names without one.
    """

    first: int
    end: int
    indent: int
    keys: tuple[Key, ...]
    span: Span
    name: Span | None
    bare: str = "aten"

    @property
    def is_head(self) -> bool:
        return any(key.name in HEAD_KEYS for key in self.keys) and self.key("func") is None

    def key(self, name: str) -> Key | None:
        return next((key for key in self.keys if key.name == name), None)

    def key_at(self, line: int) -> Key | None:
        return next((key for key in self.keys if key.first <= line < key.end), None)

    @property
    def namespace(self) -> str:
        text = "" if self.name is None else self.name.text
        return text.rsplit("::", 1)[0] if "::" in text else self.bare

    @property
    def operator(self) -> str:
        """`add.out`, without namespace; empty if it is not known."""
        return "" if self.name is None else self.name.text.rsplit("::", 1)[-1]

    @property
    def full_name(self) -> str:
        return f"{self.namespace}::{self.operator}"


@dataclass(frozen=True, slots=True)
class Outline:
    """The entries of a text, and each by its full name (the first, if there are several)."""

    source: Source
    entries: tuple[Entry, ...]
    by_name: Mapping[str, Entry]

    def entry_at(self, line: int) -> Entry | None:
        """The entry that has the line with this number (from 0)."""
        index = bisect_right(self.entries, line, key=lambda entry: entry.first) - 1
        return self.entries[index] if index >= 0 else None

    def find(self, name: str, namespace: str) -> Entry | None:
        """The entry that an entry of `namespace` means by `name`."""
        full = name if "::" in name else f"{namespace}::{name}"
        return self.by_name.get(full)

    def word_at(self, offset: int) -> Span:
        """The name around `offset`: empty if there is none."""
        source = self.source
        line = source.location(offset).line
        start = source.line_starts()[line - 1]
        for found in _WORD.finditer(source.line_text(line)):
            if start + found.start() <= offset <= start + found.end():
                text = found.group()
                lead = len(text) - len(text.lstrip(".:"))
                return Span(
                    source,
                    start + found.start() + lead,
                    start + len(text.rstrip(".:")) + found.start(),
                )
        return Span(source, offset, offset)


def is_schema(text: str) -> bool:
    """Whether a text looks like a native_functions.yaml."""
    return _LISTED.search(text) is not None


def build_outline(source: Source, namespace: str = "aten") -> Outline:
    """The entries of `source`: what begins with a dash as far left as the first dash.

    Names without a namespace are in that of the head, else in `namespace`.
    """
    lines = [source.line_text(n + 1) for n in range(len(source.line_starts()))]
    dashes = [(n, found) for n, line in enumerate(lines) if (found := _ENTRY.match(line))]
    margin = dashes[0][1].group(1) if dashes else ""
    firsts = [(n, found.end()) for n, found in dashes if found.group(1) == margin]
    entries = []
    for i, (first, indent) in enumerate(firsts):
        end = firsts[i + 1][0] if i + 1 < len(firsts) else len(lines)
        entry = _entry(source, lines, first, end, max(indent, len(margin) + 2), namespace)
        if i == 0 and entry.is_head:
            namespace = _namespace(entry) or namespace
        entries.append(entry)
    by_name: dict[str, Entry] = {}
    for entry in entries:
        if entry.name is not None:
            by_name.setdefault(entry.full_name, entry)
    return Outline(source, tuple(entries), by_name)


def _namespace(head: Entry) -> str | None:
    key = head.key("namespace")
    found = None if key is None else _NAME.match(key.value.text)
    return None if found is None else found.group(1)


def _entry(
    source: Source, lines: list[str], first: int, end: int, indent: int, namespace: str
) -> Entry:
    starts = source.line_starts()
    found = []
    for n in range(first, end):
        line = lines[n]
        if n > first and line[:indent].strip():
            continue
        match = _KEY.match(line, indent)
        if match:
            found.append((n, match))
    keys = []
    last = first
    for i, (n, match) in enumerate(found):
        stop = found[i + 1][0] if i + 1 < len(found) else end
        final = max((k for k in range(n, stop) if _is_content(lines[k])), default=n)
        last = max(last, final)
        name = Span(source, starts[n] + match.start(1), starts[n] + match.end(1))
        value = Span(source, starts[n] + match.end(), starts[final] + len(lines[final]))
        keys.append(Key(match.group(1), n, stop, name, value))
    span = Span(source, starts[first] + indent - 2, starts[last] + len(lines[last]))
    return Entry(first, end, indent, tuple(keys), span, _name(keys), namespace)


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _name(keys: list[Key]) -> Span | None:
    func = next((key for key in keys if key.name == "func"), None)
    found = None if func is None else _NAME.match(func.value.text)
    if func is None or found is None:
        return None
    return Span(
        func.span.source, func.value.start + found.start(1), func.value.start + found.end(1)
    )
