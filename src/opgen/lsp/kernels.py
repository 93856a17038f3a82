"""C++ sources into where kernels and meta functions are defined: `OPGEN_IMPL_FUNC(x)` and its kin.

Existing functions, which rows name as `::ns::fn`, are looked for by what their definitions look like.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Source, Span

_DEFINITION = re.compile(
    r"^[ \t]*OPGEN_(KERNEL|IMPL_FUNC|(?:PRECOMPUTE_)?META_FUNC2?)"
    r"[ \t]*\([ \t\r\n]*(\w+)(?:[ \t\r\n]*,[ \t\r\n]*(\w+))?[ \t\r\n]*\)",
    re.MULTILINE,
)
_SUFFIXES = (".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp", ".cuh", ".mm")
# What ends the head of a function, and the end of the type before it.
_AFTER = re.compile(r"[ \t\r\n]*(?:noexcept[ \t\r\n]*)?(?:->[\w:<>,&* \t\r\n]+)?([{;])")
_BEFORE = re.compile(r"(\w+|[>&*])[ \t\r\n]*$")
_NO_TYPES = ("return", "throw", "else", "do", "co_return", "new", "case")
_MAX_PARAMETERS = 20_000
_MAX_TYPE = 200
_MANIFEST = "opgen_manifest.json"
# Of a workspace that is somebody's home folder, a part is searched.
_MAX_FILES = 20_000
_MAX_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Definition:
    """A kernel (`name` as in a dispatch table) or a meta function (`name` is `add.Tensor`)."""

    name: str
    is_meta: bool
    span: Span


@dataclass(slots=True)
class KernelIndex:
    """The definitions under some folders. A file is read again when its time or size changes."""

    _files: dict[str, tuple[tuple[int, int], tuple[Definition, ...]]] = field(default_factory=dict)

    def definitions(self, roots: Iterable[Path]) -> list[Definition]:
        found: list[Definition] = []
        known, self._files = self._files, {}
        for path in _sources(roots):
            try:
                status = os.stat(path)
            except OSError:
                continue
            stamp = status.st_mtime_ns, status.st_size
            last = known.get(path)
            own = last[1] if last is not None and last[0] == stamp else _read(path)
            self._files[path] = stamp, own
            found += own
        return found


def find_functions(roots: Iterable[Path], name: str) -> list[Span]:
    """Where the function `name`, as `ns::fn`, seems to be defined; where it is declared, if it is defined nowhere.

    Namespaces are not looked at.
    """
    plain = name.rsplit("::", 1)[-1]
    pattern = re.compile(rf"(?<![\w.>:])(?:::)?(?:\w+::)*({re.escape(plain)})[ \t\r\n]*\(")
    defined: list[Span] = []
    declared: list[Span] = []
    for path in _sources(roots):
        text = _text_of(path)
        if text is None or plain not in text:
            continue
        source = Source(path, text)
        for found in pattern.finditer(text):
            after = _after_parameters(text, found.end())
            if after is None or not _follows_type(text, found.start()):
                continue
            span = Span(source, found.start(1), found.end(1))
            (defined if after == "{" else declared).append(span)
    return defined or declared


def _text_of(path: str) -> str | None:
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
            return None
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            return file.read()
    except OSError:
        return None


def _after_parameters(text: str, start: int) -> str | None:
    """`{` if the parameters that begin at `start` are of a definition, `;` if of a declaration; else None."""
    depth, at = 1, start
    while depth and at < min(len(text), start + _MAX_PARAMETERS):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    found = _AFTER.match(text, at)
    return None if depth or found is None else found[1]


def _follows_type(text: str, start: int) -> bool:
    """Whether what stands before may be the type that a function returns, and no call."""
    found = _BEFORE.search(text, max(0, start - _MAX_TYPE), start)
    return found is not None and found[1] not in _NO_TYPES


def _sources(roots: Iterable[Path]) -> Iterator[str]:
    seen: set[str] = set()
    for root in roots:
        for folder, folders, files in os.walk(root):
            # Generated trees declare and register kernels; nobody writes them there.
            if _MANIFEST in files:
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
    text = _text_of(path)
    if text is None or "OPGEN_" not in text:
        return ()
    source = Source(path, text)
    return tuple(
        _definition(found, Span(source, found.start(2), found.end(3) if found[3] else found.end(2)))
        for found in _DEFINITION.finditer(text)
    )


def _definition(found: re.Match[str], span: Span) -> Definition:
    is_meta = "META" in found[1]
    name = f"{found[2]}.{found[3]}" if is_meta and found[3] else found[2]
    return Definition(name, is_meta, span)
