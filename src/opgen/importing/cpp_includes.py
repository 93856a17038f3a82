"""Which of the given sources includes which."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from opgen.importing.cpp_text import CppText

# What a C++ compiler takes; other headers are CUDA's.
CPP_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
_INCLUDED = re.compile(r"[<\"]([^<>\"]+)[>\"]")


class Includes:
    """The sources by the ends of their paths, as `#include` names them."""

    def __init__(self, texts: Iterable[CppText]) -> None:
        self._by_name: dict[str, list[CppText]] = {}
        self._reached: dict[int, frozenset[int]] = {}
        for text in texts:
            self._by_name.setdefault(posixpath.basename(posix_path(text)), []).append(text)

    def reached(self, text: CppText) -> frozenset[int]:
        """A file and all that it includes step by step, by their identities."""
        if id(text) not in self._reached:
            seen = {id(text)}
            left = [text]
            while left:
                for one in self._included(left.pop()):
                    if id(one) not in seen:
                        seen.add(id(one))
                        left.append(one)
            self._reached[id(text)] = frozenset(seen)
        return self._reached[id(text)]

    def _included(self, text: CppText) -> Iterator[CppText]:
        folder = posixpath.dirname(posix_path(text))
        for name in included_names(text):
            candidates = self._by_name.get(posixpath.basename(name), ())
            yield from _nearest(candidates, folder, name)


def included_names(text: CppText) -> Iterator[str]:
    """What stands between the quotes or angles of each `#include`."""
    for directive in text.directives:
        found = _INCLUDED.match(directive.text) if directive.word == "include" else None
        if found is not None:
            yield found[1].strip()


def how_included(header: CppText, texts: Iterable[CppText], folder: str) -> str:
    """How the first of `texts` that includes a header names it; if none does, its path from `folder` on."""
    path = posix_path(header)
    for text in texts:
        for written in included_names(text):
            name = posixpath.normpath(written)
            if not name.startswith("..") and f"/{path}".endswith(f"/{name}"):
                return name
    return posixpath.relpath(path, folder or ".")


def posix_path(text: CppText) -> str:
    return posixpath.normpath(text.source.path.replace("\\", "/"))


def _nearest(candidates: Sequence[CppText], folder: str, name: str) -> list[CppText]:
    """The one beside the including file, or else all whose paths end so."""
    beside = posixpath.normpath(posixpath.join(folder, name))
    exact = [text for text in candidates if posix_path(text) == beside]
    ending = f"/{posixpath.normpath(name)}"
    return exact or [text for text in candidates if f"/{posix_path(text)}".endswith(ending)]
