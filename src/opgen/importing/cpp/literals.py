"""Evaluate C++ string literals."""

from __future__ import annotations

import re

_RAW = re.compile(r'(?:u8)?R"(?P<mark>[^()\\\s"]{0,16})\((?P<text>.*)\)(?P=mark)"', re.DOTALL)
_PLAIN = re.compile(r'(?:u8)?"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:(\r?\n)|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
# A closed literal, for use in other regular expressions.
LITERAL = (
    r'(?:(?:u8)?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)"|(?:u8)?"(?:[^"\\\n]|\\.)*")'
)


def find_string(literal: str) -> str | None:
    """Return the value of a string literal; None if it is not closed, or has wide characters."""
    raw = _RAW.fullmatch(literal)
    if raw is not None:
        return raw["text"]
    plain = _PLAIN.fullmatch(literal)
    return None if plain is None else _ESCAPE.sub(_unescape, plain[1])


def _unescape(escape: re.Match[str]) -> str:
    line_end, hexadecimal, short, long, octal, letter = escape.groups()
    if line_end is not None:
        return ""
    if octal is not None:
        return chr(int(octal, 8))
    digits = hexadecimal or short or long
    if digits is None:
        return _LETTERS.get(letter, letter)
    code = int(digits, 16)
    return chr(code) if code < 0x110000 else "\ufffd"
