"""Generated trees for the tests: from YAML to texts, in memory or in a folder."""

from __future__ import annotations

import json
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.human import render_human
from opgen.manifest import MANIFEST
from opgen.pipeline import Inputs, build_tree
from opgen.writer import Tree, write
from support.inputs import aten_inputs


def make_tree(inputs: Inputs, *, shards: int = 1, python: bool = False) -> Tree:
    """What opgen makes of `inputs`, which have no errors."""
    diagnostics = Diagnostics()
    tree = build_tree(inputs, diagnostics, shards=shards, python=python)
    assert tree is not None, render_human(diagnostics, color=False)
    return tree


def texts(tree: Tree) -> dict[str, str]:
    """Every file of `tree` by path, with the manifest."""
    manifest = json.dumps(tree.manifest(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return {**tree.files, MANIFEST: manifest}


def write_tree(tree: Tree, folder: Path) -> Path:
    """Write `tree`, as `opgen generate` does."""
    diagnostics = Diagnostics()
    write(tree, folder, diagnostics)
    assert not diagnostics.has_errors, render_human(diagnostics, color=False)
    return folder


def generate(yaml: Path, folder: Path, **options: object) -> Path:
    """The tree of one YAML file in `folder`; `options` are fields of Inputs, `shards` and `python`."""
    shards, python = int(str(options.pop("shards", 1))), bool(options.pop("python", False))
    inputs = aten_inputs((yaml,), **options)  # type: ignore[arg-type]
    return write_tree(make_tree(inputs, shards=shards, python=python), folder)


def sources(folder: Path) -> list[Path]:
    """Every generated C++ source of a tree."""
    return sorted([*folder.glob("src/*.cpp"), *folder.glob("stubs/*.cpp")])
