"""The table of gradients: each form of operators, in each mode and order, on each target, is right or an error."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from support.build import DEBUG, cache_folder, cmake_build, locked, project_definitions, run
from support.gradient_table import FOLDER, TARGETS, as_text
from support.torch_extension import build_extension, keep_no_graphs, require_torch

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent / "gradient_table"


def build(target: str, folder: Path) -> Path:
    """Build the library; return it, or for the runtime the folder of its package."""
    if target == "runtime":
        tree = cache_folder() / "run" / "gradient-table"
        flags = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror"
        definitions = (*DEBUG, flags, f"-DPython_EXECUTABLE={sys.executable}")
        with locked("run-gradient-table"):
            cmake_build(HERE, tree, *definitions, *project_definitions())
        return tree / "python"
    kernels = folder / "kernels"
    kernels.mkdir(exist_ok=True)
    shutil.copy(HERE / "forms.cpp", kernels)
    yaml = [HERE / "native_functions.yaml"]
    more: list[str | Path] = ["--python", "--derivatives", HERE / "derivatives.yaml"]
    for part in ("optionals",) if target == "torch-stable" else ("optionals", "both"):
        yaml.append(HERE / f"{part}.yaml")
        more += ["--derivatives", HERE / f"{part}_derivatives.yaml"]
        shutil.copy(HERE / f"{part}.cpp", kernels)
    return build_extension(yaml, kernels, folder / "tree", *more, target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_table(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects each form in each mode and order: the numbers of PyTorch's own operators and of finite differences, or
    an error that names the operator. `OPGEN_UPDATE_GOLDEN=1` writes the texts, from which the page has its table.
    """
    require_torch()
    keep_no_graphs(monkeypatch)
    library = build(target, tmp_path)
    cells = json.loads(
        # PyTorch's warnings come before.
        run([sys.executable, HERE / "cells.py", target, library]).splitlines()[-1]
    )
    assert not [cell for cell in cells if cell[3] == "wrong"]
    expected = FOLDER / f"{target}.txt"
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        expected.write_text(as_text(cells))
    assert as_text(cells) == expected.read_text()
