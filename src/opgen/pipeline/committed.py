"""Generate files again from the inputs in git: to tell whether somebody edited them in a clone, which has no digests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.io.writer import Tree, WriteReport, read, write
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs, input_files

_PATIENCE_S = 30.0


def write_tree(
    tree: Tree, inputs: Inputs, directory: Path, diagnostics: Diagnostics
) -> WriteReport:
    """Write the tree that was generated from `inputs` as `writer.write` does, also in a clone."""
    return write(
        tree,
        directory,
        diagnostics,
        find_unedited=lambda paths: find_unedited(inputs, directory, paths),
    )


def find_unedited(inputs: Inputs, directory: Path, paths: Collection[str]) -> Collection[str]:
    """Return those of `paths`, files in `directory`, that hold what opgen generates from inputs in git.

    The inputs are those of the last commit, then those of the last commit that changed one of the files. Without git, a
    repository or such commits, nothing is found.
    """
    found: set[str] = set()
    for commit in _commits(directory, paths):
        earlier = _inputs_at(commit, inputs) if len(found) < len(paths) else None
        tree = None if earlier is None else build_tree(earlier, Diagnostics())
        contents = {} if tree is None else tree.contents()
        for path in paths:
            if path in contents and read(f"{directory}/{path}")[1] == contents[path]:
                found.add(path)
    return found


def _commits(directory: Path, paths: Collection[str]) -> Iterator[str]:
    yield "HEAD"
    last = _git(directory, "rev-list", "-1", "HEAD", "--", *paths)
    if last:
        yield last.decode().strip()


def _inputs_at(commit: str, inputs: Inputs) -> Inputs | None:
    """Return the inputs with the contents that their files have in `commit`; None if one of the files is not in it."""
    contents = {}
    for path in input_files(inputs):
        content = _git(path.parent, "cat-file", "blob", f"{commit}:./{path.name}")
        if content is None:
            return None
        contents[path] = content
    return replace(inputs, overlay={**inputs.overlay, **contents})


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return the output of a git command, run in `folder`; None if it fails or there is no git."""
    git = shutil.which("git")
    if git is None:
        return None
    command: Sequence[str] = (git, "-C", os.fspath(folder), *arguments)
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return None if done.returncode else done.stdout
