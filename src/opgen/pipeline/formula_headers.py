"""Find the headers of an author's functions, which formulas call: those that `include` names, and what they include.

This module imports no stage: a run that has nothing to do looks for these headers, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from opgen.pipeline.author_headers import MAX_HEADERS, includes_in
from opgen.pipeline.cpp_text import find_cpp_text

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
