"""`examples/cuda` on a machine without a GPU: the package for the CPU passes its tests.

tests/nightly/test_cuda_wheel.py compiles its kernel for CUDA.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, run
from support.torch_extension import build_extension, require_torch

EXAMPLE = REPOSITORY / "examples" / "cuda"


@pytest.mark.slow
def test_the_package_without_cuda(tmp_path: Path) -> None:
    """Protects the entry, the meta function and the kernel for the CPU; a kernel in a .cu file is left out."""
    require_torch()
    yaml, kernels = EXAMPLE / "native_functions.yaml", EXAMPLE / "kernels"
    library = build_extension(yaml, kernels, tmp_path / "tree", "--python")
    options = ("-q", "-n0", "-p", "no:cacheprovider", "-o", "addopts=")
    variables = {**os.environ, "PYTHONPATH": str(library.parents[1])}
    said = run(
        [sys.executable, "-m", "pytest", *options, EXAMPLE / "tests"], cwd=tmp_path, env=variables
    )
    assert "13 passed" in said, said
