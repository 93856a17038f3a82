"""The functions of docs/reference/kernels-api.md: one source for both targets, with equal results."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest

from support.build import DEBUG, cache_folder, cmake_build, locked, project_definitions
from support.python_package import run_python
from support.torch_extension import build_extension, require_torch, run_script

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "tensor_functions"


@functools.cache
def on_the_runtime() -> str:
    folder = cache_folder() / "tensor-functions"
    definitions = (*DEBUG, "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror")
    python = f"-DPython_EXECUTABLE={sys.executable}"
    with locked(folder.name):
        cmake_build(HERE, folder, *definitions, python, *project_definitions())
    lines = "import functions, show\nshow.show(functions, functions.tensor)"
    return run_python(lines, folder / "python", HERE)


def test_on_the_runtime() -> None:
    """Protects the results of each function: dtype, sizes, strides, elements, and the rejected calls."""
    assert on_the_runtime() == (HERE / "expected.txt").read_text()


def test_on_torch(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Protects kernels from meaning something else on the other target."""
    require_torch()
    tree = tmp_path_factory.mktemp("torch") / "tree"
    library = build_extension(HERE / "operators.yaml", HERE, tree)
    assert run_script(HERE / "on_torch.py", library) == on_the_runtime()
