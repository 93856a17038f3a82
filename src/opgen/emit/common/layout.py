"""Break long lines of generated C++, sort its includes, and write comments."""

from __future__ import annotations

import re
from functools import lru_cache

WIDTH = 100
_INVISIBLE = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_COMMENT = re.compile(r" *//+ *")
# A comment whose line ends with a backslash or its trigraph continues on the next line.
_BLANK_OF_COMMENT = re.compile(r"(?<![\\/ ]) (?! )")
_SKIPPED = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|//.*|->"""
_COMMAS = re.compile(rf"({_SKIPPED}|[(){{}}<>]|, | = )")
_BLANKS = re.compile(rf"({_SKIPPED}|[(){{}}<>]|, | = | (?! |//))")
_DEPTHS = {"(": 1, "{": 1, "<": 2, ")": -1, "}": -1, ">": -2}


def break_long_lines(text: str) -> str:
    """Break the lines of C++ with more than 100 characters: at commas, if there are any.

    The lines between two `#line` directives are an author's, and stay as they are.
    """
    lines = text.split("\n")
    if max(map(len, lines)) <= WIDTH:
        return text
    is_authors = False
    for i, line in enumerate(lines):
        if line.startswith("#line"):
            is_authors = not is_authors
        elif len(line) > WIDTH and not is_authors:
            lines[i] = _broken(line, lines[i - 1].endswith("\\"))
    return "\n".join(lines)


@lru_cache(maxsize=10_000)
def _broken(line: str, in_macro: bool) -> str:
    if comment := _COMMENT.match(line):
        blanks = _BLANK_OF_COMMENT.finditer(line, comment.end())
        return _fill(line, [(blank.start(), 0) for blank in blanks], comment[0])
    in_macro = in_macro or line.startswith("#define")
    if line.startswith("#") and not in_macro:
        return line
    margin, end = " " * (len(line) - len(line.lstrip()) + 4), " \\" if in_macro else ""
    text = line.removesuffix(end)
    found = _fill(text, _places(text, _COMMAS), margin, end)
    if max(map(len, found.split("\n"))) > WIDTH:
        found = _fill(text, _places(text, _BLANKS), margin, end)
    return found + line[len(text) :]


def _places(line: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the blanks at which C++ may be broken, with costs: commas cost least, and those outside of other lists.

    A literal is not split, so that one can search for its text.
    """
    found, depth, place, before = [], 0, len(line) - len(line.lstrip()), ""
    for text in pattern.split(line.lstrip()):
        place += len(text)
        if text == ", ":
            found.append((place - 1, 2 * depth))
        elif text == " = ":
            found.append((place - 1, 3 if depth == 0 else 100 + depth))
        elif text == " " and not before.endswith(("return", "throw")):
            found.append((place - 1, 100 + depth))
        depth += _DEPTHS.get(text, 0)
        before = text
    return found


def _fill(line: str, places: list[tuple[int, int]], margin: str, end: str = "") -> str:
    """Break `line` at the last of the cheapest places that fit; further lines begin with `margin`."""
    parts, start, room = [], 0, WIDTH - len(end)
    while places and len(line) - start > room:
        fitting = [one for one in places if one[0] <= start + room] or places[:1]
        place, _ = min(fitting, key=lambda one: (one[1], -one[0]))
        parts.append(line[start:place])
        start, room = place + 1, WIDTH - len(end) - len(margin)
        places = [one for one in places if one[0] > start]
    return f"{end}\n{margin}".join([*parts, line[start:]])


def sorted_includes(*headers: str) -> tuple[str, ...]:
    """Sort the headers of one block of `#include`s, each once. Names without quotes or angle brackets get the latter."""
    operands = {h if h.startswith(("<", '"')) else f"<{h}>" for h in headers}
    return tuple(sorted(operands, key=lambda o: (o.startswith('"'), not o.endswith(".h>"), o)))


def documentation_comment(text: str, *, indent: int = 0) -> str:
    """Return `text` as `///` lines, each after a line end; an empty string for none."""
    lines = [f" {line}".rstrip(" ") for line in visible_directions(text).split("\n") if text]
    start = f"\n{' ' * indent}///"
    # Otherwise, the comment would continue on the next line.
    ends = (" //" if line.endswith(("\\", "??/")) else "" for line in lines)
    return "".join(f"{start}{line}{end}" for line, end in zip(lines, ends))


def visible_directions(text: str) -> str:
    """Replace characters that change the direction of text, which compilers warn about, and rare line ends by escapes."""
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
