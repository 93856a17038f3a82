"""Find the definitions of kernels and meta functions in the C++ sources of a workspace.

Existing functions, `::ns::fn` in dispatch tables, are found by the form of their definitions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field

from opgen.diagnostics import Source, Span
from opgen.io.manifest import MANIFEST
from opgen.pipeline.author_headers import find_cpp_text
from opgen.pipeline.kernel_sources import Definition, find_definitions

_SUFFIXES = (".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp", ".cuh", ".mm")
# The text after the parameters of a function, and the text before its name.
_AFTER = re.compile(r"[ \t\r\n]*(?:noexcept[ \t\r\n]*)?(?:->[\w:<>,&* \t\r\n]+)?([{;])")
_BEFORE = re.compile(r"(\w+|[>&*])[ \t\r\n]*$")
_NO_TYPES = ("return", "throw", "else", "do", "co_return", "new", "case")
_MAX_PARAMETERS = 20_000
_MAX_TYPE = 200
# The most files that are searched, in case the workspace is a home folder.
_MAX_FILES = 20_000


class KernelIndex(Struct):
    """A cache of the definitions in folders. A file is read again if its time or size changes."""

    _files: dict[str, tuple[tuple[int, int], tuple[Definition, ...]]] = field(default_factory=dict)

    def definitions(self, roots: Iterable[Path]) -> list[Definition]:
        """Return the definitions in all sources below `roots`."""
        definitions: list[Definition] = []
        cached, self._files = self._files, {}
        for path in _sources(roots):
            try:
                status = os.stat(path)
            except OSError:
                continue
            stamp = status.st_mtime_ns, status.st_size
            last = cached.get(path)
            own = last[1] if last is not None and last[0] == stamp else _read(path)
            self._files[path] = stamp, own
            definitions += own
        return definitions


def find_functions(roots: Iterable[Path], name: str) -> list[Span]:
    """Return the probable definitions of the function `name`, such as `ns::fn`; without any, its declarations.

    Namespaces are ignored.
    """
    plain = name.rsplit("::", 1)[-1]
    pattern = re.compile(rf"(?<![\w.>:])(?:::)?(?:\w+::)*({re.escape(plain)})[ \t\r\n]*\(")
    defined: list[Span] = []
    declared: list[Span] = []
    for path in _sources(roots):
        text = find_cpp_text(path)
        if text is None or plain not in text:
            continue
        source = Source(path, text)
        for match in pattern.finditer(text):
            after = _after_parameters(text, match.end())
            if after is None or not _follows_type(text, match.start()):
                continue
            span = Span(source, match.start(1), match.end(1))
            (defined if after == "{" else declared).append(span)
    return defined or declared


def _after_parameters(text: str, start: int) -> str | None:
    """Return `{` if the parameters at `start` belong to a definition, `;` if to a declaration; else None."""
    depth, at = 1, start
    while depth and at < min(len(text), start + _MAX_PARAMETERS):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    after = _AFTER.match(text, at)
    return None if depth or after is None else after[1]


def _follows_type(text: str, start: int) -> bool:
    """Return whether the text before `start` may be a return type, so that a call is not taken for a definition."""
    before = _BEFORE.search(text, max(0, start - _MAX_TYPE), start)
    return before is not None and before[1] not in _NO_TYPES


def _sources(roots: Iterable[Path]) -> Iterator[str]:
    seen: set[str] = set()
    for root in roots:
        for folder, folders, files in os.walk(root):
            # Generated trees declare and register kernels, but do not define them.
            if MANIFEST in files:
                folders[:] = []
                continue
            folders[:] = sorted(d for d in folders if not d.startswith(".") and d != "node_modules")
            for name in sorted(files):
                path = os.path.join(folder, name)
                if name.endswith(_SUFFIXES) and path not in seen:
                    seen.add(path)
                    if len(seen) > _MAX_FILES:
                        return
                    yield path


def _read(path: str) -> tuple[Definition, ...]:
    text = find_cpp_text(path)
    found = () if text is None else find_definitions(Source(path, text))
    # An inner loop has no place in a dispatch table.
    return tuple(definition for definition in found if definition.macro != "OPGEN_UFUNC")
