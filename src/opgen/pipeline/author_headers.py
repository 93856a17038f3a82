"""Follow the `#include` lines of an author's sources through the author's own headers.

This module imports no stage: a run that has nothing to do looks for these headers, too.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

# The most bytes of such a file.
_MAX_CPP_BYTES = 4_000_000


def find_cpp_text(path: Path | str) -> str | None:
    """Return the text of a C++ file that is searched for names; invalid UTF-8 is replaced.

    None if it is too large or not a regular file, or if it cannot be read, which the compiler reports.
    """
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_CPP_BYTES:
            return None
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            return file.read()
    except OSError:
        return None


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_INCLUDES_A_MACRO = re.compile(r"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)
MAX_HEADERS = 200


class Include(Struct, frozen=True):
    """One `#include`: `quoted` distinguishes "name" from <name>."""

    name: str
    quoted: bool


def includes_in(text: str) -> list[Include]:
    """Return the `#include` lines of a source, in order, including those under conditions."""
    return [Include(name, quote == '"') for quote, name in _INCLUDE.findall(text)]


def includes_a_macro(text: str) -> bool:
    """Return whether the name of an included header is computed."""
    return _INCLUDES_A_MACRO.search(text) is not None


def follow_includes(text: str, beside: Path, folders: Sequence[Path]) -> frozenset[Include] | None:
    """Return what `text`, a source in the folder `beside`, includes besides the author's headers, also through these.

    The author's headers are in the folder of the file that includes them, and in `folders`. None if one of them could not
    be read, or the name of one is computed.
    """
    others: set[Include] = set()
    seen: set[Path] = set()
    open_texts = [(text, beside)]
    while open_texts:
        text, own = open_texts.pop()
        if includes_a_macro(text):
            return None
        for include in includes_in(text):
            places = (f / include.name for f in (own, *folders))
            path = next((place for place in places if place.is_file()), None)
            if path is None:
                others.add(include)
            elif path not in seen:
                seen.add(path)
                header = find_cpp_text(path)
                if header is None or len(seen) > MAX_HEADERS:
                    return None
                open_texts.append((header, path.parent))
    return frozenset(others)


# The first item of a file, up to the second: it may be a header with `include`.
_FIRST_ITEM = re.compile(r"^([ \t]*)-\s.*?(?=^\1-|\Z)", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"\binclude\b[\"']?[ \t]*:(.*)", re.DOTALL)
_WORD = re.compile(r"[^\s,\[\]\"'<>:#]+")


class FoundHeader(Struct, frozen=True):
    """A header: its path, how it is written after `#include`, and its text.

    It `is_own` if a file of formulas names it, or an own header includes it with quotes. Others may be of another library.
    """

    path: Path
    written: str
    text: str
    is_own: bool


def named_headers(derivatives: str) -> Iterator[str]:
    """Yield what may be names of headers under `include` in the first item of a file of formulas; perhaps other words."""
    first = _FIRST_ITEM.search(derivatives)
    match = None if first is None else _NAMED.search(first[0])
    return iter(()) if match is None else (word[0] for word in _WORD.finditer(match[1]))


def find_headers(
    names: Iterable[str],
    folders: Iterable[Path],
    installed: Path | None,
    overlay: Mapping[Path, bytes],
) -> tuple[FoundHeader, ...]:
    """Return the headers of these names, and those in `folders` that they include.

    Names are as written after `#include`, or plain. They are looked for in `folders`, then in `installed`, the folder of
    another library's headers. Headers that are not found, cannot be read or are too large are left out.
    """
    folders = tuple(folders)
    top = folders if installed is None else (*folders, installed)
    found: dict[Path, FoundHeader] = {}
    pending = [(name, top, True) for name in names]
    while pending and len(found) < MAX_HEADERS:
        written, among, is_own = pending.pop(0)
        name = written.strip('"<>')
        path = next((f / name for f in among if os.path.isfile(f / name)), None)
        text = None if path is None or path in found else read_header(path, overlay)
        if path is not None and text is not None:
            found[path] = FoundHeader(path, written, text, is_own)
            for include in includes_in(text):
                if include.quoted:
                    pending.append((f'"{include.name}"', (path.parent, *folders), is_own))
                else:
                    pending.append((f"<{include.name}>", folders, False))
    return tuple(found.values())


def read_header(path: Path, overlay: Mapping[Path, bytes]) -> str | None:
    """Return the text of a header as `find_cpp_text` does, but of an unsaved document if `overlay` has one."""
    content = overlay.get(path)
    return find_cpp_text(path) if content is None else content.decode("utf-8", "replace")
