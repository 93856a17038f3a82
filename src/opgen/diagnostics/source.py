"""Places in input texts: character offsets, turned into lines and columns only when they are shown."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TypeVar

from opgen.dataclasses import dataclass, field

_T = TypeVar("_T")
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Location:
    """A place as people count: both `line` and `column` (in characters) begin at 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One input text and the path it is called by in messages. Compared by identity.

    `sha256` is of the file's bytes, which the text may not give back (a BOM, bytes that are not
    UTF-8); None for a text that is not of a file.
    """

    path: str
    text: str = field(repr=False)
    sha256: str | None = field(default=None, repr=False)
    # An array: ten million empty lines are 80 MB of it, and would be 400 MB of list.
    _line_starts: array[int] = field(default_factory=lambda: array("Q"), init=False, repr=False)

    _remembered: list[tuple[int, object]] = field(default_factory=list, init=False, repr=False)

    @property
    def start(self) -> Span:
        """The point before the first character: for problems of the whole text."""
        return Span(self, 0, 0)

    def line_starts(self) -> array[int]:
        """Offset of the first character of each line. `\\n`, `\\r\\n` and `\\r` end a line."""
        if not self._line_starts:
            self._line_starts.extend(_line_starts(self.text))
        return self._line_starts

    def location(self, offset: int) -> Location:
        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return Location(line, offset - starts[line - 1] + 1)

    def remember(self, offset: int, work_out: Callable[[], _T]) -> _T:
        """What `work_out` says of what stands at `offset`; not asked again for the same place.

        One place is remembered: the errors of one text come one after the other. Each offset is
        asked for one kind of answer.
        """
        if not self._remembered or self._remembered[0][0] != offset:
            self._remembered[:] = [(offset, work_out())]
        answer: _T = self._remembered[0][1]  # type: ignore[assignment]
        return answer

    def line_text(self, line: int) -> str:
        """The text of the line with this number (from 1), without its end."""
        starts = self.line_starts()
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")


def _line_starts(text: str) -> Iterator[int]:
    yield 0
    yield from (found.end() for found in _LINE_END.finditer(text))


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` to `end` (exclusive) of a source. An empty span is a point."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]
