"""Map positions in the value of a YAML scalar to positions in the source text.

Most scalars have the same characters as their source. The value of any other (with escapes, folded lines, or a block)
is computed from the source a second time, recording the source range of each character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_BREAKS = "\r\n\x85\u2028\u2029"
_FOLD = re.compile(rf"[ \t]*(?:\r\n|[{_BREAKS}])(?:[ \t]|[{_BREAKS}])*")
_BREAK = re.compile(rf"\r\n|[{_BREAKS}]")
_LINE = re.compile(rf"([^{_BREAKS}]*)(\r\n|[{_BREAKS}]|\Z)")
_FIRST_TEXT = re.compile(rf"(?:\A|(?<=[{_BREAKS}]))( *)[^ {_BREAKS}]")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


class Char(Struct, frozen=True):
    """A character of the value, made from `start` to `end` of the source. `text` may be empty."""

    text: str
    start: int
    end: int


def scalar_chars(source: str, start: int, end: int, style: str, value: str) -> list[Char] | None:
    """Return the characters of the scalar at `start` with their source ranges.

    `style` is "" (plain), "'", '"', "|" or ">". None if the characters computed here do not add up to `value`.
    """
    if style in ("|", ">"):
        return _block_chars(source, start, end, style == ">", value)
    if style:
        start, end = start + 1, end - 1
    chars = list(_flow_chars(source, start, end, style))
    return chars if "".join(c.text for c in chars) == value else None


def _flow_chars(source: str, position: int, end: int, style: str) -> Iterator[Char]:
    while position < end:
        if style == "'" and source.startswith("''", position):
            yield Char("'", position, position + 2)
            position += 2
        elif style == '"' and source[position] == "\\":
            char = _escape(source, position, end)
            yield char
            position = char.end
        elif fold := _FOLD.match(source, position, end):
            breaks = list(_BREAK.finditer(source, fold.start(), fold.end()))
            if len(breaks) == 1:
                yield Char(" ", fold.start(), fold.end())
            for line_end in breaks[1:]:
                yield Char(_normalise_line_end(line_end.group()), line_end.start(), line_end.end())
            position = fold.end()
        else:
            yield Char(source[position], position, position + 1)
            position += 1


def _normalise_line_end(line_end: str) -> str:
    return line_end if line_end in ("\u2028", "\u2029") else "\n"


def _escape(source: str, position: int, end: int) -> Char:
    letter = source[position + 1 : position + 2]
    if letter in _HEX_DIGITS:
        stop = position + 2 + _HEX_DIGITS[letter]
        number = int(source[position + 2 : stop], 16)
        return Char(chr(number) if number <= 0x10FFFF else "", position, stop)
    if letter in _ESCAPES:
        return Char(_ESCAPES[letter], position, position + 2)
    # An escaped line end vanishes, with the indentation of the next line.
    fold = _FOLD.match(source, position + 1, end)
    return Char("", position, fold.end() if fold is not None else position + 2)


def _block_chars(source: str, start: int, end: int, folded: bool, value: str) -> list[Char] | None:
    """Read a block scalar, whose indentation is taken from its first line with text.

    YAML may define it relative to the parent's indentation, which is unknown here.
    """
    header = _LINE.match(source, start)
    assert header is not None
    lines = [m for m in _LINE.finditer(source, header.end(), max(end, header.end())) if m.group()]
    first = next((m[1] for m in lines if m[1].strip(" ")), None)
    first_of_value = _FIRST_TEXT.search(value)
    if first is None or first_of_value is None:
        return None
    indent = len(first) - len(first.lstrip(" ")) - len(first_of_value[1])
    if indent < 1:
        return None
    chars = list(_block_text(lines, indent, folded))
    return chars[: len(value)] if "".join(c.text for c in chars).startswith(value) else None


def _block_text(lines: list[re.Match[str]], indent: int, folded: bool) -> Iterator[Char]:
    """Yield the characters of a block, with all line ends after its text (chomping `+`)."""
    contents = [line[1][indent:] for line in lines]
    # For each line, the content of the next line that is not empty.
    following: list[str | None] = [None] * len(lines)
    for number in range(len(lines) - 2, -1, -1):
        following[number] = contents[number + 1] or following[number + 1]
    for number, (line, content) in enumerate(zip(lines, contents)):
        start = line.start() + min(indent, len(line[1]))
        yield from (Char(c, start + i, start + i + 1) for i, c in enumerate(content))
        if folded and _can_join(content) and _can_join(following[number]):
            if contents[number + 1]:
                yield Char(" ", line.start(2), line.end(2))
        else:
            yield Char(_normalise_line_end(line[2] or "\n"), line.start(2), line.end(2))


def _can_join(content: str | None) -> bool:
    """Return whether folding joins this line to a neighbour: it is neither empty nor indented further."""
    return bool(content) and content is not None and content[0] not in " \t"
