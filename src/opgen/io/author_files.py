"""Find an author's own sources in a folder that is about to receive generated files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.io.manifest import MANIFEST

_SUFFIXES = frozenset(
    (
        *(".cpp", ".cc", ".cxx", ".c", ".cu", ".mm", ".h", ".hh", ".hpp", ".cuh"),
        *(".py", ".pyi", ".yaml", ".yml"),
    )
)
# Enough names to recognise the folder.
_MOST = 3
_MOST_SEEN = 10_000


def report_author_files(paths: Collection[str], directory: Path, diagnostics: Diagnostics) -> None:
    """Report W0920 if `directory` has sources of an author where the generated files `paths` will be.

    A folder with a manifest received generated files before, and is not reported again.
    """
    if os.path.lexists(directory / MANIFEST):
        return
    found = sorted(_sources(paths, directory))[: _MOST + 1]
    if not found:
        return
    more = " and more" if len(found) > _MOST else ""
    diagnostics.warning(
        "W0920",
        f"{directory} holds sources of your own: {', '.join(found[:_MOST])}{more}",
        None,
        notes=[f"opgen changes none of them, and writes {len(paths)} files beside them"],
        hint=f"give -o a folder of its own, such as {directory / 'generated'}",
    )


def _sources(paths: Collection[str], directory: Path) -> Iterator[str]:
    """Yield the sources directly in the folder, and anywhere in the folders that receive generated files."""
    top = os.fspath(directory)
    folders = {path.partition("/")[0] for path in paths if "/" in path}
    seen = 0
    for folder, inner, files in os.walk(top):
        inside = os.path.relpath(folder, top)
        inner[:] = [name for name in inner if inside != "." or name in folders]
        for name in files:
            seen += 1
            path = os.path.normpath(os.path.join(inside, name)).replace(os.sep, "/")
            if os.path.splitext(name)[1] in _SUFFIXES and path not in paths:
                yield path
        if seen > _MOST_SEEN:
            return
