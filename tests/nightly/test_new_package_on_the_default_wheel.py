"""A new package with the torch that `pip install torch` brings to users: a build for CUDA, here without a GPU."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from support.build import cache_folder, environment, one_torch_unit, run
from support.opgen_wheel import opgen_packages

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def python() -> Path:
    """A Python with a torch for CUDA: $OPGEN_CUDA_PYTHON, or an environment made from the package index."""
    given = os.environ.get("OPGEN_CUDA_PYTHON")
    folder = cache_folder() / "default-wheel"
    found = Path(given) if given else folder / "bin" / "python"
    if not found.exists():
        if shutil.disk_usage(cache_folder()).free < 20e9:
            pytest.skip("torch for CUDA takes 6 GB, and fewer than 20 GB are free")
        run([sys.executable, "-m", "venv", folder])
        run([found, "-m", "pip", "install", "-q", "torch==2.14.1"], env=environment())
    if run([found, "-c", "import torch; print(torch.version.cuda)"]).strip() == "None":
        pytest.skip("the index has only a torch for CPUs")
    _, wheel = opgen_packages()
    more = ("scikit-build-core>=1.1", "pytest>=8", "numpy", "hypothesis")
    run([found, "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", wheel])
    run([found, "-m", "pip", "install", "-q", "opgen[verify]", *more])
    return found


@pytest.mark.parametrize("target", ["torch", "torch-stable", "runtime"])
def test_it_passes_its_own_tests(python: Path, target: str, tmp_path: Path) -> None:
    """Protects the first minutes of most users, verify among them: a fork after CUDA was initialised lost gradients."""
    variables = {**environment(), "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    variables["CMAKE_BUILD_PARALLEL_LEVEL"] = "1"
    run([python, "-m", "opgen", "new", "mylib", "--target", target, "-o", tmp_path / "new"])
    install = [python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "."]
    with one_torch_unit():
        run(install, cwd=tmp_path / "new", env=variables)
    said = run([python, "-m", "pytest", "-q"], cwd=tmp_path / "new", env=variables)
    assert " passed" in said and "failed" not in said, said
