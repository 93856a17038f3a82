"""Find the word under the cursor in a schema file: an operator, a kernel, a key, a tag, a type."""

from __future__ import annotations

import re
from enum import Enum, auto

from msgspec import Struct

from opgen.diagnostics import Span
from opgen.lsp.outline import Entry, Key, Outline
from opgen.model.native_function import FALLTHROUGH
from opgen.model.profile import ATEN

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
    rest = _line_after(outline, span)
    return re.match(r"[ \t\w,]*:(\s|$)", rest) is not None


def _line_after(outline: Outline, span: Span) -> str:
    location = outline.source.location(span.end)
    return outline.source.line_text(location.line)[location.column - 1 :]


def is_comment(outline: Outline, span: Span) -> bool:
    location = outline.source.location(span.start)
    before = outline.source.line_text(location.line)[: location.column - 1]
    return before.lstrip().startswith("#") or " #" in before
