"""C++ sources into where kernels and meta functions are defined: `OPGEN_IMPL_FUNC(x)` and its kin."""

from __future__ import annotations

import os
import re
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
                stat = os.stat(path)
            except OSError:
                continue
            stamp = stat.st_mtime_ns, stat.st_size
            last = known.get(path)
            own = last[1] if last is not None and last[0] == stamp else _read(path, stat.st_size)
            self._files[path] = stamp, own
            found += own
        return found


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


def _read(path: str, size: int) -> tuple[Definition, ...]:
    if size > _MAX_BYTES:
        return ()
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            text = file.read()
    except OSError:
        return ()
    if "OPGEN_" not in text:
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
