"""Positions in input files as character offsets, converted to lines and columns only when they are shown."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import ClassVar, TypeVar

from msgspec import Struct

_T = TypeVar("_T")
_LINE_END = re.compile(r"\r\n?|\n")


class Location(Struct, frozen=True):
    """A line and a column (in characters), both counted from 1."""

    line: int
    column: int


class Source(Struct, frozen=True, eq=False, dict=True):
    """An input text and its path in messages. Sources are compared by identity.

    `sha256` is the digest of the file's bytes, which cannot be computed from the text (a BOM, bytes that are not
    UTF-8); None if the text is not from a file.
    """

    path: str
    text: str
    sha256: str | None = None

    def __repr__(self) -> str:
        return f"Source({self.path!r})"

    @property
    def start(self) -> Span:
        """The point before the first character, for problems of the whole text."""
        return Span(self, 0, 0)

    def line_starts(self) -> array[int]:
        """Return the offset of the first character of each line. `\\n`, `\\r\\n` and `\\r` end a line."""
        return self._line_starts

    @cached_property
    def _line_starts(self) -> array[int]:
        # An array: ten million empty lines take 80 MB, and 400 MB as a list.
        return array("Q", _line_starts(self.text))

    def location(self, offset: int) -> Location:
        """Return the line and column of a character."""
        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return Location(line, offset - starts[line - 1] + 1)

    def remember(self, offset: int, work_out: Callable[[], _T]) -> _T:
        """Return `work_out()`, which computes something about the text at `offset`; cache it for the next call.

        Only the last offset is cached, since the errors of one text are reported in succession. Callers ask for one
        kind of result at each offset.
        """
        if not self._remembered or self._remembered[0][0] != offset:
            self._remembered[:] = [(offset, work_out())]
        answer: _T = self._remembered[0][1]  # type: ignore[assignment]
        return answer

    @cached_property
    def _remembered(self) -> list[tuple[int, object]]:
        """The offset and the result of the last call of `remember`; empty before the first."""
        return []

    def line_text(self, line: int) -> str:
        """Return the text of a line, counted from 1, without its line end."""
        starts = self.line_starts()
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")


def _line_starts(text: str) -> Iterator[int]:
    yield 0
    yield from (found.end() for found in _LINE_END.finditer(text))


class Span(Struct, frozen=True):
    """The characters `start` to `end` (exclusive) of a source. An empty span is a point."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of the span."""
        return self.source.text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Return whether both have a character in common, or one is a point inside of or next to the other."""
        if self.source is not other.source:
            return False
        return self.start <= other.end and other.start <= self.end


class Located:
    """A base class for structs with a position in a file, which `==` and `hash` ignore.

    It comes before `Struct` in the list of bases. `_places` names the fields that `==` and `hash` ignore.
    """

    __slots__ = ()

    __struct_fields__: ClassVar[tuple[str, ...]]
    _places: ClassVar[tuple[str, ...]] = ("span",)

    def _compared(self) -> tuple[object, ...]:
        names = (name for name in self.__struct_fields__ if name not in self._places)
        return tuple([getattr(self, name) for name in names])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Located) or type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self), self._compared()))
