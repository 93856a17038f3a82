"""Map positions in the value of a YAML scalar to positions in the source text.

Most scalars have the same characters as their source. Any other (with escapes, folded lines, or a block) is read a second
time, beside its value, recording the source range of each character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BREAKS = "\r\n\x85\u2028\u2029"
_FOLD = re.compile(rf"[ \t]*(?:\r\n|[{_BREAKS}])(?:[ \t]|[{_BREAKS}])*")
_BREAK = re.compile(rf"\r\n|[{_BREAKS}]")
_LINE = re.compile(rf"([^{_BREAKS}]*)(\r\n|[{_BREAKS}]|\Z)")
_FIRST_TEXT = re.compile(rf"(?:\A|(?<=[{_BREAKS}]))( *)[^ {_BREAKS}]")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
Range = tuple[int, int]


def character_ranges(source: str, start: int, end: int, style: str, value: str) -> list[Range]:
    """Return the source range of each character of the scalar at `start`.

    `style` is "" (plain), "'", '"', "|" or ">". Empty if the characters found here do not add up to `value`.
    """
    if style in ("|", ">"):
        ranges = _block(source, start, end, value)
    else:
        ranges = list(_flow(source, start + len(style), end - len(style), style))
    is_same = len(ranges) == len(value) and all(
        sign.isspace() or source[begin] in (sign, "\\") for sign, (begin, _) in zip(value, ranges)
    )
    return ranges if is_same else []


def _flow(source: str, at: int, end: int, style: str) -> Iterator[Range]:
    while at < end:
        start, letter = at, source[at + 1 : at + 2]
        if style == "'" and source.startswith("''", at):
            at += 2
        elif style == '"' and source[at] == "\\":
            # An escaped line end vanishes, with the indentation of the next line.
            fold = _FOLD.match(source, at + 1, end)
            if fold is not None and letter != "\t":
                at = fold.end()
                continue
            at += 2 + _HEX_DIGITS.get(letter, 0)
        elif fold := _FOLD.match(source, at, end):
            breaks = list(_BREAK.finditer(source, at, fold.end()))
            at = fold.end()
            if len(breaks) > 1:
                yield from (line_end.span() for line_end in breaks[1:])
                continue
        else:
            at += 1
        yield start, at


def _block(source: str, start: int, end: int, value: str) -> list[Range]:
    """Read a block scalar, whose indentation is taken from its first line with text.

    YAML may define it relative to the parent's indentation, which is unknown here. Which line ends remain is seen in the
    value.
    """
    header = _LINE.match(source, start)
    assert header is not None
    lines = list(_LINE.finditer(source, header.end(), max(end, header.end())))
    first = next((line[1] for line in lines if line[1].strip(" ")), None)
    first_of_value = _FIRST_TEXT.search(value)
    if first is None or first_of_value is None:
        return []
    indent = len(first) - len(first.lstrip(" ")) - len(first_of_value[1])
    ranges: list[Range] = []
    for line in lines if indent > 0 else ():
        begin = line.start() + min(indent, len(line[1]))
        ranges += ((at, at + 1) for at in range(begin, line.end(1)))
        if value[len(ranges) : len(ranges) + 1].isspace():
            ranges.append(line.span(2))
    return ranges[: len(value)]
