"""What in a folder is not as it would be made."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics
from opgen.manifest import MANIFEST, manifest_text, read_manifest
from opgen.writer import Tree, look, read


@dataclass(frozen=True, slots=True)
class Stale:
    """One path on which a directory differs from what would be generated."""

    path: str
    kind: str  # "stale", "missing", "left over", or what stands there: "a link"
    diff: str


def compare(tree: Tree, directory: Path, diagnostics: Diagnostics) -> tuple[Stale, ...]:
    """Every path on which `directory` is not what `tree` would make of it; reads every byte."""
    old = read_manifest(directory, diagnostics)
    if old is None:
        return ()
    contents = tree.contents()
    wanted = {**contents, MANIFEST: manifest_text(tree.manifest(contents)).encode()}
    top = os.fspath(directory)
    paths = sorted({*wanted, *old.paths})
    seen = look(directory, paths) if os.path.isdir(directory) else None
    stale = []
    for path in paths:
        there = seen is not None and path in seen.files
        actual = read(f"{top}/{path}")[1] if there else None
        if path not in wanted:
            if actual is not None:
                stale.append(Stale(path, "left over", ""))
        elif seen is not None and (kind := seen.other_kind(path)) is not None:
            # What is behind a link may be as it should, but `generate` would refuse it.
            stale.append(Stale(path, kind, ""))
        elif actual is None:
            stale.append(Stale(path, "missing", ""))
        elif actual != wanted[path]:
            old_text = actual.decode(errors="replace")
            diff = _unified_diff(path, old_text, wanted[path].decode())
            stale.append(Stale(path, "stale", diff))
    return tuple(stale)


def _unified_diff(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        fromfile=f"{path} (on disk)",
        tofile=f"{path} (generated)",
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
