"""Gradients of generated operators with formulas from derivatives.yaml, in every way that PyTorch offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

HERE = Path(__file__).parent / "torch_derived"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    tree = tmp_path_factory.mktemp("derived") / "tree"
    return build_extension(HERE / "native_functions.yaml", HERE / "kernels", tree)


def test_every_form(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every form of a formula: values, first and second derivatives, functorch, compilers, saved tensors."""
    keep_no_graphs(monkeypatch)
    print(run_script(HERE / "checks.py", library))


def test_rules(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What graphs keep, release and refuse; hooks, threads, modules, opcheck, inductor, two processes."""
    keep_no_graphs(monkeypatch)
    print(run_script(HERE / "rules.py", library))


def test_forms(library: Path) -> None:
    """Protects results and arguments of every kind from gradients that are missing without a word."""
    assert run_script(HERE / "forms.py", library) == "ok\n"
