"""Positions in the value of a YAML scalar into positions in the source text.

Most scalars stand in the source as they are. For the others (escapes, folded lines, block scalars)
the value is derived anew from the source, noting for each character where it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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


class Char(NamedTuple):
    """A character of the value, and what it is made from: `start` to `end` of the source."""

    text: str
    start: int
    end: int


def scalar_chars(source: str, start: int, end: int, style: str, value: str) -> list[Char] | None:
    """The characters of the scalar at `start`; None if they cannot be told apart.

    `style` is "" (plain), "'", '"', "|" or ">".
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
            yield from _folded(source, fold)
            position = fold.end()
        else:
            yield Char(source[position], position, position + 1)
            position += 1


def _folded(source: str, fold: re.Match[str]) -> Iterator[Char]:
    """One line end in a flow scalar is a space; of several, the first is nothing."""
    breaks = list(_BREAK.finditer(source, fold.start(), fold.end()))
    if len(breaks) == 1:
        yield Char(" ", fold.start(), fold.end())
    for found in breaks[1:]:
        yield Char(_normal_break(found.group()), found.start(), found.end())


def _normal_break(text: str) -> str:
    return text if text in ("\u2028", "\u2029") else "\n"


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
    """The indentation of a block may depend on its parent's, so it is taken from its first text."""
    header = _LINE.match(source, start)
    assert header is not None
    lines = [m for m in _LINE.finditer(source, header.end(), max(end, header.end())) if m.group()]
    first = next((m[1] for m in lines if m[1].strip(" ")), None)
    found = _FIRST_TEXT.search(value)
    if first is None or found is None:
        return None
    indent = len(first) - len(first.lstrip(" ")) - len(found[1])
    if indent < 1:
        return None
    chars = list(_block_text(lines, indent, folded))
    return chars[: len(value)] if "".join(c.text for c in chars).startswith(value) else None


def _block_text(lines: list[re.Match[str]], indent: int, folded: bool) -> Iterator[Char]:
    """The characters of a block as if it were to keep the line ends after it."""
    texts = [line[1][indent:] for line in lines]
    # Of each line the next that is not empty.
    following: list[str | None] = [None] * len(lines)
    for number in range(len(lines) - 2, -1, -1):
        following[number] = texts[number + 1] or following[number + 1]
    for number, (line, text) in enumerate(zip(lines, texts)):
        start = line.start() + min(indent, len(line[1]))
        yield from (Char(c, start + i, start + i + 1) for i, c in enumerate(text))
        if folded and _joins(text) and _joins(following[number]):
            if texts[number + 1]:
                yield Char(" ", line.start(2), line.end(2))
        else:
            yield Char(_normal_break(line[2] or "\n"), line.start(2), line.end(2))


def _joins(text: str | None) -> bool:
    """Folding takes a line end for a space if neither line is empty or indented more."""
    return bool(text) and text is not None and text[0] not in " \t"
