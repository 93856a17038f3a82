"""Operators with formulas in derivatives.yaml, used as in training: the kernels are ours, and so are the gradients."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from support.build import run
from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

pytestmark = pytest.mark.slow

LIBRARY = Path(__file__).parent / "torch_gradients"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    tree = tmp_path_factory.mktemp("gradients") / "tree"
    return build_extension(LIBRARY / "native_functions.yaml", LIBRARY / "kernels", tree)


def test_values(library: Path) -> None:
    """Protects the kernels: their results are those of PyTorch's functions."""
    assert run_script(LIBRARY / "values.py", library) == "14 operators\n"


def test_formulas(library: Path) -> None:
    """Protects every formula, by the test that an author writes: finite differences, both modes, both orders."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-rP", "-p", "no:cacheprovider"]
    command += ["-o", "addopts=", str(LIBRARY / "formulas.py")]
    said = run(command, env={**os.environ, "GRADED": str(library)}, cwd=LIBRARY)
    checked = re.findall(r"^(graded::\S+) float64: .* (\d+) checked", said, re.MULTILINE)
    assert len(checked) == 18 and all(int(count) >= 20 for _, count in checked), said
    assert "graded::bump complex128" in said


@pytest.mark.parametrize(
    "check", ["backward", "func", "forward", "vmap", "hessian", "opcheck", "variants"]
)
def test_transforms(check: str, library: Path) -> None:
    """Protects the gradients under PyTorch's transforms: they are those of the same functions of PyTorch."""
    assert "no failure" in run_script(LIBRARY / "transforms.py", library, check)


def test_compile(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects training through inductor: one graph with symbolic sizes, and equal gradients."""
    keep_no_graphs(monkeypatch)
    assert "no failure" in run_script(LIBRARY / "transforms.py", library, "compile")
