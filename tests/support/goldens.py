"""The small inputs of tests/golden/trees, and the trees made from them.

Each folder there has an `input.yaml`, may have `tags.yaml` and headers of an author, and an `options.json` with fields
of `Inputs` (paths relative to the folder), `shards`, `python` and `files`: the patterns of the files that are kept in
`expected.txt`, each below a line with its path. Without `files` the whole tree is kept.
"""

from __future__ import annotations

import functools
import json
import re
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from opgen.io.manifest import MANIFEST
from opgen.io.writer import Tree
from opgen.pipeline.inputs import Inputs
from support.build import REPOSITORY
from support.inputs import aten_inputs
from support.trees import make_tree, texts

FOLDER = REPOSITORY / "tests" / "golden" / "trees"
# The texts of the files that every package has.
COPIED = frozenset(path.read_text() for path in REPOSITORY.glob("runtime/*/package/**/*.py*"))


@dataclass(frozen=True)
class Golden:
    """One input, named after the feature that it shows."""

    name: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def expected(self) -> Path:
        return self.folder / "expected.txt"

    @cached_property
    def options(self) -> dict[str, Any]:
        file = self.folder / "options.json"
        return json.loads(file.read_text()) if file.exists() else {}

    @property
    def patterns(self) -> tuple[str, ...]:
        """The files that are kept: patterns of paths, in which `*` also stands for `/`."""
        return tuple(self.options.get("files", ["*"]))

    @property
    def base(self) -> Golden | None:
        """The input whose library this one extends."""
        name = self.options.get("extends")
        return None if name is None else Golden(name)

    def inputs(self) -> Inputs:
        backend = self.options.get("backend_yaml")
        return aten_inputs(
            yaml=(self.folder / "input.yaml",),
            extends=None if self.base is None else Path(_manifest(self.base).name, MANIFEST),
            select=tuple(self.folder / name for name in self.options.get("select", ())),
            backend_yaml=None if backend is None else self.folder / backend,
            target=self.options.get("target", "runtime"),
            frameworks=tuple(self.options.get("frameworks", ())),
        )

    def tree(self) -> Tree:
        shards, python = self.options.get("shards", 1), self.options.get("python", False)
        return make_tree(self.inputs(), shards=shards, python=python)

    def kept(self) -> dict[str, str]:
        """Return the generated files that are kept, by path: not those that opgen only copies."""
        every = {path: text for path, text in texts(self.tree()).items() if text not in COPIED}
        unused = [one for one in self.patterns if not any(fnmatchcase(path, one) for path in every)]
        assert not unused, f"{self.name}/options.json: no generated file is called {unused}"
        return {
            path: text
            for path, text in every.items()
            if any(fnmatchcase(path, pattern) for pattern in self.patterns)
        }


@functools.cache
def _manifest(golden: Golden) -> tempfile.TemporaryDirectory[str]:
    """Return a folder with the manifest of a golden's tree, which exists until this process ends."""
    folder = tempfile.TemporaryDirectory()
    Path(folder.name, MANIFEST).write_text(texts(golden.tree())[MANIFEST])
    return folder


GOLDENS = tuple(Golden(path.parent.name) for path in sorted(FOLDER.glob("*/input.yaml")))


def read(kept: Path) -> dict[str, str]:
    """Return the files of a snapshot, by path; none if there is no snapshot yet."""
    if not kept.exists():
        return {}
    _, *parts = re.split(r"^==== (.*)\n", kept.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def snapshot(files: dict[str, str]) -> str:
    """Return the text that `read` divides into `files`."""
    return "".join(f"==== {path}\n{files[path]}" for path in sorted(files))


def check_format(files: dict[str, str]) -> None:
    """Check that black leaves each Python file as it is; without black, skip the test."""
    black = pytest.importorskip("black")
    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            mode = black.Mode(line_length=100, is_pyi=path.endswith("i"))
            assert black.format_str(text, mode=mode) == text, path
