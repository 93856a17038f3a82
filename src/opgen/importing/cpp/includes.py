"""Resolve `#include` directives among the sources."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from opgen.importing.cpp.text import CppText, Directive

# Headers for a C++ compiler. Others, such as `.cuh`, are for CUDA's compiler.
CPP_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
_INCLUDED = re.compile(r"[<\"]([^<>\"]+)[>\"]")


class Includes:
    """Finds the sources that a source includes: those whose paths end with the name in the `#include`."""

    def __init__(self, texts: Iterable[CppText]) -> None:
        self._by_name: dict[str, list[CppText]] = {}
        self._reached: dict[CppText, frozenset[CppText]] = {}
        for text in texts:
            self._by_name.setdefault(posixpath.basename(posix_path(text)), []).append(text)

    def reached(self, text: CppText) -> frozenset[CppText]:
        """Return a file and all that it includes, directly or indirectly."""
        if text not in self._reached:
            seen = {text}
            pending = [text]
            while pending:
                for included in self._included(pending.pop()):
                    if included not in seen:
                        seen.add(included)
                        pending.append(included)
            self._reached[text] = frozenset(seen)
        return self._reached[text]

    def _included(self, text: CppText) -> Iterator[CppText]:
        for directive in text.directives:
            yield from self.named(text, directive)

    def named(self, text: CppText, directive: Directive) -> list[CppText]:
        """Return the sources that a directive of `text` includes."""
        name = _included_name(directive)
        candidates = self._by_name.get(posixpath.basename(name), ())
        return _nearest(candidates, posixpath.dirname(posix_path(text)), name) if name else []


def included_names(text: CppText) -> Iterator[str]:
    """Yield the name in each `#include`, without quotes or angle brackets."""
    yield from filter(None, map(_included_name, text.directives))


def _included_name(directive: Directive) -> str:
    """Return the name in an `#include`; "" for others."""
    match = _INCLUDED.match(directive.text) if directive.word == "include" else None
    return "" if match is None else match[1].strip()


def include_name(header: CppText, texts: Iterable[CppText], folder: str) -> str:
    """Return the name by which the first of `texts` includes a header; if none does, its path relative to `folder`."""
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
    """Return the candidate at `name` relative to `folder`; without one, all whose paths end with `name`."""
    relative = posixpath.normpath(posixpath.join(folder, name))
    exact = [text for text in candidates if posix_path(text) == relative]
    ending = f"/{posixpath.normpath(name)}"
    return exact or [text for text in candidates if f"/{posix_path(text)}".endswith(ending)]
