"""Break long lines of generated C++, sort its includes, and write comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 100
_INVISIBLE = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_COMMENT = re.compile(r" *//+ *")
# A comment whose line ends with a backslash or its trigraph continues on the next line.
_BLANK_OF_COMMENT = re.compile(r"(?<![\\/ ]) (?! )")
_TOKEN = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|//.*|->|[(){}<>]| = |(?<! ),? (?! |//)"""
)
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
            lines[i] = _broken(line, in_macro=lines[i - 1].endswith("\\"))
    return "\n".join(lines)


def _broken(line: str, *, in_macro: bool) -> str:
    comment = _COMMENT.match(line)
    if comment is not None:
        blanks = _BLANK_OF_COMMENT.finditer(line, comment.end())
        return _fill(line, [(blank.start(), 0) for blank in blanks], comment[0])
    margin = " " * (len(line) - len(line.lstrip()) + 4)
    if in_macro or line.startswith("#define"):
        text = line.removesuffix(" \\")
        return _fill(text, list(_places(text)), margin, " \\") + line[len(text) :]
    return line if line.startswith("#") else _fill(line, list(_places(line)), margin)


def _places(line: str) -> Iterator[tuple[int, int]]:
    """Yield the blanks at which C++ may be broken, with costs: commas cost least, and those outside of other lists.

    A literal is not split, so that one can search for its text.
    """
    depth = 0
    for token in _TOKEN.finditer(line, len(line) - len(line.lstrip())):
        text = token[0]
        if text == ", ":
            yield token.end() - 1, 2 * depth
        elif text == " = ":
            yield token.end() - 1, 3 if depth == 0 else 100 + depth
        elif text == " " and not line[: token.start()].endswith(("return", "throw")):
            yield token.start(), 100 + depth
        depth += _DEPTHS.get(text, 0)


def _fill(line: str, places: list[tuple[int, int]], margin: str, end: str = "") -> str:
    """Break `line` at the last of the cheapest places that fit; further lines begin with `margin`."""
    parts, start, room = [], 0, WIDTH - len(end)
    while len(line) - start > room:
        places = [one for one in places if one[0] > start]
        if not places:
            break
        fitting = [one for one in places if one[0] <= start + room] or places[:1]
        place, _ = min(fitting, key=lambda one: (one[1], -one[0]))
        parts.append(line[start:place])
        start, room = place + 1, WIDTH - len(end) - len(margin)
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
    """Replace the characters that change the direction of text, which compilers warn about, and rare line ends by
    escapes of C++.
    """
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
