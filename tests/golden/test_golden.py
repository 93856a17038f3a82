"""Small inputs and the whole trees made of them: `<feature>/input.yaml` becomes `<feature>/expected/**`.

Beside the input may lie tags.yaml and options.json (fields of `Inputs`, `shards` and `python`; paths relative to the folder).
Both ways are compared: a file too many is as wrong as one too few.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from opgen.pipeline import Inputs
from support.inputs import aten_inputs
from support.trees import make_tree, texts

HERE = Path(__file__).parent
FEATURES = sorted(path.parent.name for path in HERE.glob("*/input.yaml"))
UPDATE = "OPGEN_UPDATE_GOLDEN=1 pytest tests/golden"


@pytest.mark.parametrize("feature", FEATURES)
def test_the_tree_is_as_expected(feature: str) -> None:
    folder = HERE / feature
    given = options(folder)
    shards, python = given.get("shards", 1), given.get("python", False)
    made = texts(make_tree(inputs(folder), shards=shards, python=python))
    if os.environ.get("OPGEN_UPDATE_GOLDEN"):
        update(folder / "expected", made)
    difference = diff(read(folder / "expected"), made)
    assert not difference, f"{difference}\nIf this is as it should be: {UPDATE} -k '{feature}'"


def test_every_folder_has_an_input() -> None:
    folders = {path.parent.name for path in HERE.glob("*/expected")}
    assert folders == set(FEATURES), "a folder without input.yaml, or without expected"


def options(folder: Path) -> dict[str, Any]:
    file = folder / "options.json"
    return json.loads(file.read_text()) if file.exists() else {}


def inputs(folder: Path) -> Inputs:
    given = options(folder)
    extends, backend = given.get("extends"), given.get("backend_yaml")
    return aten_inputs(
        yaml=(folder / "input.yaml",),
        name=given.get("name"),
        backends=tuple(given.get("backends", ())),
        ignore_keys=tuple(given.get("ignore_keys", ())),
        extends=None if extends is None else folder / extends,
        select=tuple(folder / name for name in given.get("select", ())),
        backend_yaml=None if backend is None else folder / backend,
    )


def read(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def update(folder: Path, made: dict[str, str]) -> None:
    """Make `folder` hold `made` and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in made.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def diff(expected: dict[str, str], made: dict[str, str]) -> str:
    """A unified diff of two trees; empty if they are the same."""
    parts = []
    for path in sorted({*expected, *made}):
        old, new = expected.get(path), made.get(path)
        if old == new:
            continue
        if old is None:
            parts.append(f"{path} is made, and not expected\n")
        elif new is None:
            parts.append(f"{path} is expected, and not made\n")
        else:
            lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
            parts += difflib.unified_diff(*lines, f"{path} (expected)", f"{path} (made)")
    return "".join(parts)
