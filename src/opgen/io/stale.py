"""Compare a folder with the tree that would be generated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics
from opgen.io.manifest import MANIFEST, manifest_text, read_manifest
from opgen.io.unified_diff import unified_diff
from opgen.io.writer import Tree, list_folders, read


class Stale(Struct, frozen=True):
    """A path at which a folder differs from the generated tree."""

    path: str
    kind: (
        str  # "stale", "missing", "left over", or a description of what is there, such as "a link"
    )
    diff: str


class Comparison(Struct, frozen=True):
    """Every path at which a folder differs from a tree, sorted, and the header of the folder's manifest."""

    stale: tuple[Stale, ...] = ()
    header: Mapping[str, Any] = field(default_factory=dict)


def compare(tree: Tree, directory: Path, diagnostics: Diagnostics) -> Comparison:
    """Compare `directory` with `tree`. Reads every byte."""
    old = read_manifest(directory, diagnostics)
    if old is None:
        return Comparison()
    contents = tree.contents()
    wanted = {**contents, MANIFEST: manifest_text(tree.manifest()).encode()}
    top = os.fspath(directory)
    paths = sorted({*wanted, *old.paths})
    found = list_folders(directory, paths) if os.path.isdir(directory) else None
    stale = []
    for path in paths:
        there = found is not None and path in found.files
        actual = read(f"{top}/{path}")[1] if there else None
        if path not in wanted:
            if actual is not None:
                stale.append(Stale(path, "left over", ""))
        elif found is not None and (kind := found.other_kind(path)) is not None:
            # The file that a link leads to may be right, but `generate` would reject the link.
            stale.append(Stale(path, kind, ""))
        elif actual is None:
            stale.append(Stale(path, "missing", ""))
        elif actual != wanted[path]:
            names = f"{path} (on disk)", f"{path} (generated)"
            old_text = actual.decode(errors="replace")
            diff = unified_diff(*names, old_text, wanted[path].decode())
            stale.append(Stale(path, "stale", diff))
    return Comparison(tuple(stale), old.header)
