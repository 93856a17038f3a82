"""Convert offsets in texts to positions of the protocol, and back.

A position counts code units of the encoding that client and server agreed on, by default UTF-16. Lines end, as in
`Source`, only at `\\n`, `\\r\\n` and `\\r`.
"""

from __future__ import annotations

from lsprotocol import types
from msgspec import Struct

from opgen.diagnostics import Source, Span

_BYTES = {
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


class Positions(Struct, frozen=True):
    """Converts positions in the code units of one encoding."""

    encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16

    def position(self, source: Source, offset: int) -> types.Position:
        offset = min(max(offset, 0), len(source.text))
        location = source.location(offset)
        before = source.line_text(location.line)[: location.column - 1]
        return types.Position(location.line - 1, self._units(before))

    def range(self, span: Span) -> types.Range:
        return types.Range(
            self.position(span.source, span.start), self.position(span.source, span.end)
        )

    def offset(self, source: Source, position: types.Position) -> int:
        """Return the offset of the character at `position`, or of the nearest existing one."""
        starts = source.line_starts()
        if position.line >= len(starts):
            return len(source.text)
        line = source.line_text(position.line + 1)
        return starts[position.line] + self._characters(line, position.character)

    def whole(self, source: Source) -> types.Range:
        return self.range(Span(source, 0, len(source.text)))

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        codec, size = _BYTES[self.encoding]
        return len(text.encode(codec, "surrogatepass")) // size

    def _characters(self, line: str, units: int) -> int:
        if line.isascii():
            return min(units, len(line))
        counted = 0
        for index, character in enumerate(line):
            counted += self._units(character)
            if counted > units:
                return index
        return len(line)
