"""The small inputs of tests/golden/trees, and the trees made from them.

Each folder there has an `input.yaml`, may have `tags.yaml` and headers of an author, and an `options.json` with fields
of `Inputs` (paths relative to the folder), `shards`, `python` and `files`: the patterns of the files that are kept in
`expected`. Without `files` the whole tree is kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

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
        return self.folder / "expected"

    @cached_property
    def options(self) -> dict[str, Any]:
        file = self.folder / "options.json"
        return json.loads(file.read_text()) if file.exists() else {}

    @property
    def patterns(self) -> tuple[str, ...]:
        """The files that are kept in `expected`: patterns of paths, in which `*` also stands for `/`."""
        return tuple(self.options.get("files", ["*"]))

    @property
    def extends(self) -> Path | None:
        """The manifest of the library that this one extends."""
        given = self.options.get("extends")
        return None if given is None else (self.folder / given).resolve()

    def inputs(self) -> Inputs:
        backend = self.options.get("backend_yaml")
        return aten_inputs(
            yaml=(self.folder / "input.yaml",),
            extends=self.extends,
            select=tuple(self.folder / name for name in self.options.get("select", ())),
            backend_yaml=None if backend is None else self.folder / backend,
            target=self.options.get("target", "runtime"),
        )

    def tree(self) -> Tree:
        shards, python = self.options.get("shards", 1), self.options.get("python", False)
        return make_tree(self.inputs(), shards=shards, python=python)

    def kept(self) -> dict[str, str]:
        """Return the generated files that `expected` should hold, by path: not those that opgen only copies."""
        every = {path: text for path, text in texts(self.tree()).items() if text not in COPIED}
        unused = [one for one in self.patterns if not any(fnmatchcase(path, one) for path in every)]
        assert not unused, f"{self.name}/options.json: no generated file is called {unused}"
        return {
            path: text
            for path, text in every.items()
            if any(fnmatchcase(path, pattern) for pattern in self.patterns)
        }


GOLDENS = tuple(Golden(path.parent.name) for path in sorted(FOLDER.glob("*/input.yaml")))
