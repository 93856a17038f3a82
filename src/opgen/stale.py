"""What in a folder is not as it would be made."""

from __future__ import annotations

import difflib
from pathlib import Path

from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics
from opgen.manifest import MANIFEST, manifest_text, read_manifest
from opgen.writer import Tree


@dataclass(frozen=True, slots=True)
class Stale:
    """One path on which a directory differs from what would be generated."""

    path: str
    kind: str  # "stale", "missing" or "left over"
    diff: str


def compare(tree: Tree, directory: Path, diagnostics: Diagnostics) -> tuple[Stale, ...]:
    """Every path on which `directory` is not what `tree` would make of it; reads every byte."""
    old = read_manifest(directory, diagnostics)
    if old is None:
        return ()
    wanted = {**tree.files, MANIFEST: manifest_text(tree.manifest())}
    stale = []
    for path in sorted({*wanted, *old.paths}):
        actual = _read_text(directory / path)
        if path not in wanted:
            if actual is not None:
                stale.append(Stale(path, "left over", ""))
        elif actual is None:
            stale.append(Stale(path, "missing", ""))
        elif actual != wanted[path]:
            stale.append(Stale(path, "stale", _unified_diff(path, actual, wanted[path])))
    return tuple(stale)


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return None


def _unified_diff(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        fromfile=f"{path} (on disk)",
        tofile=f"{path} (generated)",
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
