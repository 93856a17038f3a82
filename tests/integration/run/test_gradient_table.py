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


@pytest.fixture(scope="module")
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    return build(request.param, tmp_path_factory.mktemp(request.param))


of_each_target = pytest.mark.parametrize(
    ("target", "library"),
    [(target, target) for target in TARGETS],
    indirect=["library"],
    ids=TARGETS,
)


@of_each_target
def test_second_derivatives_need_formulas(target: str, library: Path) -> None:
    """Protects from a second derivative of zero: an operator that a formula calls needs a formula, and the error has its
    name.
    """
    said = run([sys.executable, HERE / "second.py", target, library]).splitlines()[-1]
    assert "forms::mul_plain" in said and "is not implemented" in said, said


@of_each_target
def test_table(target: str, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects each form in each mode and order: the numbers of PyTorch's own operators and of finite differences, or
    an error that names the operator. `OPGEN_UPDATE_GOLDEN=1` writes the texts, from which the page has its table.
    """
    keep_no_graphs(monkeypatch)
    cells = json.loads(
        # PyTorch's warnings come before.
        run([sys.executable, HERE / "cells.py", target, library]).splitlines()[-1]
    )
    assert not [cell for cell in cells if cell[3] == "wrong"]
    expected = FOLDER / f"{target}.txt"
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        expected.write_text(as_text(cells))
    assert as_text(cells) == expected.read_text()
