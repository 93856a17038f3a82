"""Where things begin and end in the text of a schema: quotes, brackets, blanks, marks of types."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLANKS = re.compile(r"\s*,(?=\S)|\s+")


def stray_blanks(text: str) -> list[tuple[int, int, str]]:
    """White space that is missing or too much: where, and what to put there.

    Right is a single space between two words, and one after each comma.
    """
    size = len(text)
    found = []
    for match in _BLANKS.finditer(text):
        begin, end = match.span()
        if match.group().endswith(","):
            found.append((begin, end, ", "))
        elif begin == 0 or end == size:
            found.append((begin, end, ""))
        elif match.group() != " ":
            found.append((begin, end, " "))
    return found


def base_end(text: str) -> int:
    """Where the marks of a type (`?`, `[]`, `[3]`) begin."""
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
    """Positions of the characters that are outside of quotes."""
    position = start
    while position < end:
        if text[position] in "\"'":
            position = quote_end(text, position, end)
        else:
            yield position
            position += 1


def quote_end(text: str, start: int, end: int) -> int:
    """Where the text quoted from `start` on ends; `end` if it does not."""
    position = start + 1
    while position < end:
        if text[position] == "\\":
            position += 1
        elif text[position] == text[start]:
            return position + 1
        position += 1
    return end + 1


def is_open(text: str) -> bool:
    """Whether an argument has parentheses, or its default quotes or brackets, that do not end."""
    start = text.find("=") + 1
    if not start:
        return text.count("(") > text.count(")")
    depth = 0
    reached = start
    while reached < len(text):
        if text[reached] in "\"'":
            reached = quote_end(text, reached, len(text))
            continue
        depth += {"[": 1, "]": -1}.get(text[reached], 0)
        reached += 1
    return depth > 0 or reached > len(text)


def tight_comma_in_default(text: str) -> int | None:
    depth = 0
    for position in skip_quoted(text, 0, len(text)):
        depth += {"[": 1, "]": -1}.get(text[position], 0)
        if depth == 0 and text[position] == ",":
            return position
    return None


def default_problem(text: str) -> str | None:
    if not text.strip():
        return "a default is missing after '='"
    if "=" in text:
        return "a default cannot hold '='"
    if "::" in text:
        return "a default cannot hold '::'"
    if is_open(f"={text}"):
        return "the default is not closed"
    if ", " in text:
        inside = "quoted text" if text[0] in "\"'" else "list"
        return f"a default cannot hold ', ', not even inside a {inside}"
    if not text.isprintable():
        return "a default cannot hold control characters"
    return None
