"""Find the entries and keys of a schema file, or of a file of formulas, line by line, without parsing it.

During typing, most texts are not valid YAML. The outline depends only on indentation and colons, so that one invalid
entry does not hide the others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from enum import Enum, auto

from msgspec import Struct

from opgen.diagnostics import Source, Span
from opgen.model.native_function import FALLTHROUGH
from opgen.model.profile import ATEN
from opgen.parse.entries.keys import HEADER_KEYS

_ENTRY = re.compile(r"^( *)-( +|$)")
_KEY = re.compile(r"([A-Za-z_]\w*)[ \t]*:(?=[ \t]|$)[ \t]*")
_NAME = re.compile(r"[>|]?[-+\d]*\s*(?:['\"]\s*)?([A-Za-z_][\w:.]*)")
_WORD = re.compile(r"[\w.:]+")
_LISTED = re.compile(r"^ *- +func *:", re.MULTILINE)


class Key(Struct, frozen=True):
    """A key of an entry: the numbers of its lines (from 0, end exclusive), and the spans of key and value."""

    name: str
    first: int
    end: int
    span: Span
    value: Span


class Entry(Struct, frozen=True):
    """An entry, or the header of the file. Its keys begin at column `indent`.

    `name` is the operator's name in `func`, or in `name` of formulas, if there is one. `default_namespace` is that of names without one.
    """

    first: int
    end: int
    indent: int
    keys: tuple[Key, ...]
    span: Span
    name: Span | None
    default_namespace: str = ATEN

    @property
    def is_header(self) -> bool:
        named = self.key("func") or self.key("name")
        return any(key.name in HEADER_KEYS for key in self.keys) and named is None

    def key(self, name: str) -> Key | None:
        return next((key for key in self.keys if key.name == name), None)

    def key_at(self, line: int) -> Key | None:
        return next((key for key in self.keys if key.first <= line < key.end), None)

    @property
    def namespace(self) -> str:
        text = "" if self.name is None else self.name.text
        return text.rsplit("::", 1)[0] if "::" in text else self.default_namespace

    @property
    def operator(self) -> str:
        """The name without namespace, such as `add.out`; empty if there is none."""
        return "" if self.name is None else self.name.text.rsplit("::", 1)[-1]

    @property
    def full_name(self) -> str:
        return f"{self.namespace}::{self.operator}"


class Outline(Struct, frozen=True):
    """The entries of a text, also by full name (the first one if there are several)."""

    source: Source
    entries: tuple[Entry, ...]
    by_name: Mapping[str, Entry]

    def entry_at(self, line: int) -> Entry | None:
        """Return the entry of the line with this number (from 0)."""
        index = bisect_right(self.entries, line, key=lambda entry: entry.first) - 1
        return self.entries[index] if index >= 0 else None

    def word_at(self, offset: int) -> Span:
        """Return the name around `offset`; an empty span if there is none."""
        source = self.source
        line = source.location(offset).line
        line_start = source.line_starts()[line - 1]
        for match in _WORD.finditer(source.line_text(line)):
            start = line_start + match.start()
            if start <= offset <= start + len(match[0]):
                lead = len(match[0]) - len(match[0].lstrip(".:"))
                return Span(source, start + lead, start + len(match[0].rstrip(".:")))
        return Span(source, offset, offset)


def is_schema(text: str) -> bool:
    """Return whether a text looks like a native_functions.yaml."""
    return _LISTED.search(text) is not None


def build_outline(source: Source, namespace: str = ATEN) -> Outline:
    """Build the outline of `source`. Entries begin with a dash in the same column as the first dash.

    `namespace` is that of names without one, unless the header sets it.
    """
    lines = [source.line_text(n + 1) for n in range(len(source.line_starts()))]
    dashes = [(n, dash) for n, line in enumerate(lines) if (dash := _ENTRY.match(line))]
    margin = dashes[0][1].group(1) if dashes else ""
    firsts = [(n, dash.end()) for n, dash in dashes if dash.group(1) == margin]
    entries = []
    for i, (first, indent) in enumerate(firsts):
        end = firsts[i + 1][0] if i + 1 < len(firsts) else len(lines)
        entry = _entry(source, lines, first, end, max(indent, len(margin) + 2), namespace)
        if i == 0 and entry.is_header:
            key = entry.key("namespace")
            name = None if key is None else _NAME.match(key.value.text)
            namespace = namespace if name is None else name.group(1)
        entries.append(entry)
    by_name: dict[str, Entry] = {}
    for entry in entries:
        if entry.name is not None:
            by_name.setdefault(entry.full_name, entry)
    return Outline(source, tuple(entries), by_name)


def _entry(
    source: Source, lines: list[str], first: int, end: int, indent: int, namespace: str
) -> Entry:
    starts = source.line_starts()
    inside = (n for n in range(first, end) if n == first or not lines[n][:indent].strip())
    matches = [(n, match) for n in inside if (match := _KEY.match(lines[n], indent))]
    keys = []
    last = first
    for i, (n, match) in enumerate(matches):
        stop = matches[i + 1][0] if i + 1 < len(matches) else end
        final = max((k for k in range(n, stop) if lines[k].strip()[:1] not in ("", "#")), default=n)
        last = max(last, final)
        place = Span(source, starts[n] + match.start(1), starts[n] + match.end(1))
        value = Span(source, starts[n] + match.end(), starts[final] + len(lines[final]))
        keys.append(Key(match.group(1), n, stop, place, value))
    span = Span(source, starts[first] + indent - 2, starts[last] + len(lines[last]))
    # An entry of operators, or of formulas.
    named = next((key.value for key in keys if key.name in ("func", "name")), None)
    match = None if named is None else _NAME.match(named.text)
    name = None
    if named is not None and match is not None:
        name = Span(source, named.start + match.start(1), named.start + match.end(1))
    return Entry(first, end, indent, tuple(keys), span, name, namespace)


_DELEGATES = ("structured_delegate", "autogen")


class Kind(Enum):
    """The kind of a word."""

    key = auto()
    operator = auto()
    kernel = auto()
    dispatch_key = auto()
    tag = auto()
    schema = auto()
    # The word `fallthrough` in a dispatch table.
    fallthrough = auto()
    # A key of a file's header, or of a class there.
    header_key = auto()
    # In a file of formulas: a key of an entry, such as an argument; and a word of a formula.
    formula_key = auto()
    formula = auto()


class Word(Struct, frozen=True):
    """A word in the value of `key`, or the key itself."""

    kind: Kind
    span: Span
    entry: Entry
    key: Key

    @property
    def text(self) -> str:
        return self.span.text

    @property
    def is_existing(self) -> bool:
        """Whether the word is an existing function: `::ns::fn`."""
        before = self.span.source.text[max(self.span.start - 2, 0) : self.span.start]
        return self.kind is Kind.kernel and before == "::"

    @property
    def operator(self) -> str:
        """The full name of the operator that the word names; for other words, that of the entry."""
        if self.kind is not Kind.operator or self.key.name in ("func", "name"):
            return self.entry.full_name
        return self.text if "::" in self.text else f"{self.entry.namespace}::{self.text}"


def find_word(outline: Outline, offset: int) -> Word | None:
    """Return the word at `offset`; None if it has no meaning for opgen."""
    line = outline.source.location(offset).line - 1
    entry = outline.entry_at(line)
    key = None if entry is None else entry.key_at(line)
    if entry is None or key is None:
        return None
    span = outline.word_at(offset)
    if not span.text or is_comment(outline, span):
        return None
    if key.span.start <= offset <= key.span.end:
        return Word(Kind.header_key if entry.is_header else Kind.key, key.span, entry, key)
    if entry.is_header:
        is_nested = key.name == "classes" and is_before_colon(outline, span)
        return Word(Kind.header_key, span, entry, key) if is_nested else None
    kind = _kind(outline, span, entry, key)
    return None if kind is None else Word(kind, span, entry, key)


def _kind(outline: Outline, span: Span, entry: Entry, key: Key) -> Kind | None:
    if key.name == "func":
        name = entry.name
        on_name = name is not None and name.start <= span.start <= name.end
        return Kind.operator if on_name else Kind.schema
    if key.name in _DELEGATES:
        return Kind.operator
    if key.name == "tags":
        return Kind.tag
    if key.name == "dispatch":
        if is_before_colon(outline, span):
            return Kind.dispatch_key
        is_fallthrough = span.text == FALLTHROUGH and entry.namespace != ATEN
        return Kind.fallthrough if is_fallthrough else Kind.kernel
    return None


def is_before_colon(outline: Outline, span: Span) -> bool:
    location = outline.source.location(span.end)
    rest = outline.source.line_text(location.line)[location.column - 1 :]
    return re.match(r"[ \t\w,]*:(\s|$)", rest) is not None


def is_comment(outline: Outline, span: Span) -> bool:
    location = outline.source.location(span.start)
    before = outline.source.line_text(location.line)[: location.column - 1]
    return before.lstrip().startswith("#") or " #" in before
