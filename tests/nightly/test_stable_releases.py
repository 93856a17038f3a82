"""One library for torch-stable, built once, with each release of PyTorch that it serves: the same bytes."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, run
from support.stable_gradients import CHECKS, SCRIPT, build_stable_gradients
from support.torch_extension import build_extension, require_torch, run_script

pytestmark = pytest.mark.nightly

RELEASES = ("2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")


TORCH_TARGET = REPOSITORY / "tests" / "integration" / "run" / "torch_target"
# Of each of four kinds: functional, in-place, out=, and parts of one memory.
RANDOM_CALLS = 10_000


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    return build_stable_gradients(tmp_path_factory.mktemp("stable-releases"))


@pytest.fixture(scope="module")
def structured_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    tree = tmp_path_factory.mktemp("stable-structured") / "tree"
    return build_extension(
        TORCH_TARGET / "operators.yaml", TORCH_TARGET, tree, target="torch-stable"
    )


@pytest.mark.parametrize("release", RELEASES)
def test_the_same_bytes(
    release: str, library: Path, structured_library: Path, tmp_path: Path
) -> None:
    """Protects the promise of the target. Runs in an environment with the wheel from the index, which takes 7 GB."""
    if shutil.disk_usage(tmp_path).free < 20e9:
        pytest.skip("an environment with torch takes 7 GB, and fewer than 20 GB are free")
    folder = tmp_path / "environment"
    try:
        run([sys.executable, "-m", "venv", folder])
        python = folder / "bin" / "python"
        run([python, "-m", "pip", "install", "-q", "--no-cache-dir", f"torch=={release}", "numpy"])
        assert run_script(SCRIPT, library, *CHECKS, python=str(python)) == "ok\n"
        count = str(RANDOM_CALLS)
        run_script(TORCH_TARGET / "aten.py", structured_library, count, python=str(python))
    finally:
        shutil.rmtree(folder)
