"""Gradients of target torch-stable, which Python records: formulas beside PyTorch's gradients, and errors without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.stable_gradients import (
    CHECKS,
    CHECKS_OF_WRITES,
    HERE,
    SCRIPT,
    WRITES,
    build_stable_gradients,
)
from support.torch_extension import keep_no_graphs, require_torch, run_script

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    return build_stable_gradients(tmp_path_factory.mktemp("stable-gradients"))


def test_gradients(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects gradients that one library has for all releases, and the error where there is none."""
    keep_no_graphs(monkeypatch)
    assert run_script(SCRIPT, library, *CHECKS) == "ok\n"


def test_operators_that_write(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects in-place operators from gradients that are wrong without a word: a table of them beside torch.mul."""
    keep_no_graphs(monkeypatch)
    assert run_script(WRITES, library, *CHECKS_OF_WRITES) == "ok\n"


def test_without_the_package(library: Path) -> None:
    """Protects programs that load only the library from gradients of zero."""
    command = [sys.executable, str(HERE / "without_package.py"), str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    assert done.stdout == "ok\n"
