"""Find where quotes, brackets, white space and suffixes of types begin and end in a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLANKS = re.compile(r"\s*,(?=\S)|\s+")


def stray_blanks(text: str) -> list[tuple[int, int, str]]:
    """Return each place where white space is wrong: start, end, and the right white space.

    Words are separated by one space, and one space follows each comma.
    """
    size = len(text)
    strays = []
    for match in _BLANKS.finditer(text):
        begin, end = match.span()
        if match.group().endswith(","):
            strays.append((begin, end, ", "))
        elif begin == 0 or end == size:
            strays.append((begin, end, ""))
        elif match.group() != " ":
            strays.append((begin, end, " "))
    return strays


def base_end(text: str) -> int:
    """Return where the suffixes of a type (`?`, `[]`, `[3]`) begin."""
    end = len(text)
    while end:
        if text[end - 1] == "?":
            end -= 1
        elif text[end - 1] == "]":
            opening = text.rfind("[", 0, end)
            digits = text[opening + 1 : end - 1]
            if opening < 0 or (digits and not (digits.isascii() and digits.isdecimal())):
                break
            end = opening
        else:
            break
    return end


def skip_quoted(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the positions between `start` and `end` that are not inside quotes."""
    position = start
    while position < end:
        if text[position] in "\"'":
            position = quote_end(text, position, end)
        else:
            yield position
            position += 1


def quote_end(text: str, start: int, end: int) -> int:
    """Return the position after the quoted string that begins at `start`; `end + 1` if it is not closed."""
    position = start + 1
    while position < end:
        if text[position] == "\\":
            position += 1
        elif text[position] == text[start]:
            return position + 1
        position += 1
    return end + 1


def is_open(text: str) -> bool:
    """Return whether parentheses of an argument, or quotes or brackets of its default, are not closed."""
    declaration, equals, _ = text.partition("=")
    # '<' opens a list of types in C++, '[' one in Python. They are reported as such.
    if any(declaration.count(a) > declaration.count(b) for a, b in ("()", "[]", "<>")):
        return True
    depth = 0
    reached = len(declaration) + len(equals)
    while reached < len(text):
        if text[reached] in "\"'":
            reached = quote_end(text, reached, len(text))
            continue
        depth += {"[": 1, "]": -1}.get(text[reached], 0)
        reached += 1
    return depth > 0 or reached > len(text)


def tight_comma_in_default(text: str) -> int | None:
    """Return the position of the first comma outside of quotes and brackets; None if there is none."""
    depth = 0
    for position in skip_quoted(text, 0, len(text)):
        depth += {"[": 1, "]": -1}.get(text[position], 0)
        if depth == 0 and text[position] == ",":
            return position
    return None


def default_problem(text: str) -> str | None:
    """Return why `text` cannot be a default, for a message; None if it can."""
    if not text.strip():
        return "a default is missing after '='"
    if "=" in text:
        return "a default cannot contain '='"
    if "::" in text:
        return "a default cannot contain '::'"
    if is_open(f"={text}"):
        return "the default is not closed"
    if ", " in text:
        inside = "quoted string" if text[0] in "\"'" else "list"
        return f"a default cannot contain ', ', not even inside a {inside}"
    if not text.isprintable():
        return "a default cannot contain control characters"
    return None
