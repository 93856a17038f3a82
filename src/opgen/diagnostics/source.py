"""Places in input texts: character offsets, turned into lines and columns only when they are shown."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Location:
    """A place as people count: both `line` and `column` (in characters) begin at 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One input text and the path it is called by in messages. Compared by identity."""

    path: str
    text: str = field(repr=False)
    _line_starts: list[int] = field(default_factory=list, init=False, repr=False)

    @property
    def start(self) -> Span:
        """The point before the first character: for problems of the whole text."""
        return Span(self, 0, 0)

    def line_starts(self) -> list[int]:
        """Offset of the first character of each line. `\\n`, `\\r\\n` and `\\r` end a line."""
        if not self._line_starts:
            self._line_starts.extend(_line_starts(self.text))
        return self._line_starts

    def location(self, offset: int) -> Location:
        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return Location(line, offset - starts[line - 1] + 1)

    def line_text(self, line: int) -> str:
        """The text of the line with this number (from 1), without its end."""
        starts = self.line_starts()
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")


def _line_starts(text: str) -> list[int]:
    starts = [0]
    position = 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        # str.splitlines also breaks at characters that no editor counts as the end of a line.
        if line.endswith(("\n", "\r")):
            starts.append(position)
    return starts


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` to `end` (exclusive) of a source. An empty span is a point."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]
