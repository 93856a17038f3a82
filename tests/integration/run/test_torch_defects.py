"""Defects of PyTorch that users meet with correct operators: docs/reference/torch.md lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.torch_extension import require_torch, run_script

FOLDER = Path(__file__).parent / "torch_defects"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "torch.md"
pytestmark = pytest.mark.slow


def test_a_clone_that_inductor_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notices when a release fixes it: then change the page. Also protects what the page says to do until then."""
    require_torch()
    assert "x.clone()" in PAGE.read_text()
    # A pool of compilers takes longer to start than one small program takes to compile.
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    by_clone, by_operator = run_script(FOLDER / "dropped_clone.py").split()
    assert by_operator == "True"
    assert by_clone == "False", "PyTorch has fixed it"
