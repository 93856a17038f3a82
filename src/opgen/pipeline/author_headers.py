"""Follow the `#include` lines of an author's sources through the author's own headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from opgen.pipeline.cpp_text import find_cpp_text

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_INCLUDES_A_MACRO = re.compile(r"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)
MAX_HEADERS = 200


class Include(Struct, frozen=True):
    """One `#include`: `quoted` distinguishes "name" from <name>."""

    name: str
    quoted: bool


class AuthorHeaders(Struct, frozen=True):
    """The texts of the author's headers that are reached, and the included names that are not files of the author.

    `is_whole` is false if a header could not be read, or the name of one is computed.
    """

    texts: tuple[str, ...]
    others: frozenset[Include]
    is_whole: bool


def includes_in(text: str) -> list[Include]:
    """Return the `#include` lines of a source, in order, including those under conditions."""
    return [Include(name, quote == '"') for quote, name in _INCLUDE.findall(text)]


def includes_a_macro(text: str) -> bool:
    """Return whether the name of an included header is computed."""
    return _INCLUDES_A_MACRO.search(text) is not None


def follow_includes(
    text: str, beside: Path | None, folders: Sequence[Path], *, start: Iterable[Include] = ()
) -> AuthorHeaders:
    """Read the headers that `text`, a source in the folder `beside`, includes, and those that they include.

    The author's headers are in the folder of the file that includes them, and in `folders`. `start` are further includes.
    """
    texts: list[str] = []
    others: set[Include] = set()
    seen: set[Path] = set()
    is_whole = not includes_a_macro(text)
    first = (*filter(None, [beside]), *folders)
    open_headers = [(include, first) for include in (*start, *includes_in(text))]
    while open_headers:
        include, places = open_headers.pop()
        path = next((f / include.name for f in places if (f / include.name).is_file()), None)
        if path is None:
            others.add(include)
            continue
        if path in seen:
            continue
        seen.add(path)
        header = find_cpp_text(path)
        if header is None or len(seen) > MAX_HEADERS:
            return AuthorHeaders(tuple(texts), frozenset(others), False)
        texts.append(header)
        is_whole = is_whole and not includes_a_macro(header)
        nearby = (path.parent, *folders)
        open_headers += [(each, nearby) for each in includes_in(header)]
    return AuthorHeaders(tuple(texts), frozenset(others), is_whole)
