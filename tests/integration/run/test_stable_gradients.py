"""Gradients of target torch-stable, which Python records: formulas beside PyTorch's gradients, and errors without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.stable_gradients import CHECKS, SCRIPT, build_stable_gradients
from support.torch_extension import keep_no_graphs, require_torch, run_script

pytestmark = pytest.mark.slow


def test_gradients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects gradients that one library has for all releases, and the error where there is none."""
    require_torch()
    keep_no_graphs(monkeypatch)
    assert run_script(SCRIPT, build_stable_gradients(tmp_path), *CHECKS) == "ok\n"
