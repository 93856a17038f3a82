"""Find what a C++ expression leaves open: a bracket, a quote, a comment.

Compilers report such a thing where the file ends, hundreds of lines after the expression.
"""

from __future__ import annotations

import re

from msgspec import Struct

_TOKEN = re.compile(
    r"""(?P<whole> //[^\n]* | /\*.*?\*/ | R"(?P<tag>[^\s()\\"]{0,16})\(.*?\)(?P=tag)"
        | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)+' | \d(?:'?[\w.])* )
    | (?P<opening>[(\[{]) | (?P<closing>[)\]}]) | (?P<unclosed>/\*|["'])
    | (?P<joining>\\[ \t\r]*(?:\n|\Z))""",
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class Unclosed(Struct, frozen=True):
    """Characters `start` to `end` of an expression, and what is wrong with them."""

    start: int
    end: int
    message: str


def find_unclosed(expression: str) -> Unclosed | None:
    """Return the first part of an expression that is not closed, or that closes nothing; None if there is none."""
    opened: list[re.Match[str]] = []
    for token in _TOKEN.finditer(expression):
        text = token[0]
        match token.lastgroup:
            case "opening":
                opened.append(token)
            case "closing" if opened and _PAIRS[opened[-1][0]] == text:
                opened.pop()
            case "closing":
                against = f", and '{opened[-1][0]}' is open" if opened else ""
                return Unclosed(*token.span(), f"'{text}' closes nothing{against}")
            case "unclosed":
                what = "comment" if text == "/*" else "quote"
                return Unclosed(*token.span(), f"the {what} is not closed")
            case "joining":
                message = "a backslash at the end of a line continues the line"
                return Unclosed(token.start(), token.start() + 1, message)
    if opened:
        return Unclosed(*opened[-1].span(), f"'{opened[-1][0]}' is not closed")
    return None
