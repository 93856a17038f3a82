"""Generate trees for the tests: from YAML to texts, in memory or in a folder."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.rendering import render_human
from opgen.io.manifest import MANIFEST
from opgen.io.writer import Tree, write
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs
from support.inputs import aten_inputs


def make_tree(inputs: Inputs, *, shards: int = 1, python: bool = False) -> Tree:
    """Generate the tree of `inputs`, which must have no errors."""
    diagnostics = Diagnostics()
    tree = build_tree(replace(inputs, shards=shards, python=python), diagnostics)
    assert tree is not None, render_human(diagnostics, color=False)
    return tree


def texts(tree: Tree) -> dict[str, str]:
    """Every file of `tree` by path, with the manifest."""
    manifest = json.dumps(tree.manifest(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return {**tree.files, MANIFEST: manifest}


def write_tree(tree: Tree, folder: Path) -> Path:
    """Write `tree` into `folder`, as `opgen generate` does."""
    diagnostics = Diagnostics()
    write(tree, folder, diagnostics)
    assert not diagnostics.has_errors, render_human(diagnostics, color=False)
    return folder


def generate(yaml: Path, folder: Path, **options: object) -> Path:
    """Generate the tree of one YAML file into `folder`; `options` are fields of Inputs, `shards` and `python`."""
    shards, python = int(str(options.pop("shards", 1))), bool(options.pop("python", False))
    inputs = aten_inputs((yaml,), **options)  # type: ignore[arg-type]
    return write_tree(make_tree(inputs, shards=shards, python=python), folder)


def sources(folder: Path) -> list[Path]:
    """Return every generated C++ source of a tree."""
    return sorted([*folder.glob("src/*.cpp"), *folder.glob("stubs/*.cpp")])
