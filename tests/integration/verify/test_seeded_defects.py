"""`opgen verify` finds the seeded defects, each by the property that it violates, and reports nothing of their twins.

The library of target runtime is verified in `.ci/run`, those of target torch, which take longer to compile, in `.ci/nightly`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from seeded_libraries import (
    SEEDED,
    Score,
    build_for_torch,
    build_generated,
    build_hand,
    hand_request,
    score,
)

from opgen.verify.api import Report, verify
from opgen.verify.runner.messages import FAILED
from support.build import require_headers

# Races and a kernel that takes the GIL, which are not found on every machine.
MISSED: dict[str, frozenset[str]] = {
    "runtime": frozenset({"A52"}),
    "torch": frozenset(),
    "hand": frozenset({"A12", "B39"}),
}


def check(library: str, result: Score) -> None:
    missed = {text.partition(" ")[0] for text in result.missed}
    assert missed <= MISSED[library], "\n".join(result.missed)
    assert not result.alarms, "\n".join(result.alarms)


@pytest.mark.slow
def test_the_runtime_library(tmp_path: Path) -> None:
    require_headers()
    check("runtime", score("runtime", build_generated("runtime", tmp_path), "quick"))


@pytest.fixture(scope="module")
def torch() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        pytest.skip("torch is not installed")
    return Path(spec.origin).parent


@pytest.mark.nightly
def test_the_torch_library(torch: Path, tmp_path: Path) -> None:
    require_headers()
    check("torch", score("torch", build_generated("torch", tmp_path), "quick"))


@pytest.mark.nightly
def test_the_library_registered_by_hand(torch: Path, tmp_path: Path) -> None:
    library = build_hand(torch, tmp_path)
    check("hand", score("hand", hand_request(), "default", SEEDED_HAND=str(library)))


def failed(report: Report) -> set[tuple[str, str]]:
    """Return which operators violate which properties."""
    return {
        (r.name.partition("::")[2], v.property)
        for r in report.operators
        for v in r.verdicts
        if v.status == FAILED
    }


@pytest.mark.slow
def test_symbols_in_cpp(torch: Path, tmp_path: Path) -> None:
    """Protects C++ kernels that call ATen from false alarms: torch.compile makes one graph of them. SymInts are symbols."""
    library = build_for_torch(torch, tmp_path / "libseeded_symbols.so", ["symbols"])
    found = verify(load=str(library), namespaces=["seeded_symbols"], mode="quick", jobs=2)
    assert failed(found) == {
        ("center_by_number", "symbolic-sizes"),
        ("center_by_number", "unbacked-sizes"),
        ("pad_to", "symbolic-sizes"),
    }


# What is found of the operators of kinds.py; of those whose names end in _ok, nothing.
KINDS = {
    ("copied", "vmap"),
    ("scaled", "crash"),
    ("positive", "strided-inputs"),
    ("negated", "strided-inputs"),
    ("finite_", "inplace-agrees"),
    ("mixed", "strided-inputs"),
    ("masked", "backward-gradient"),
    ("multiplied", "backward-gradient"),
    ("doubled.out", "out-resizes"),
    ("squared.out", "out-refuses"),
    ("row", "meta-refuses"),
    *((name, "repeatable") for name in ("decay", "pooled", "started", "training")),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_kinds_of_other_authors(torch: Path, seed: int) -> None:
    """Protects a certificate from defects of kinds that its makers had not thought of, with each seed."""
    kinds = str(SEEDED / "kinds.py")
    found = verify(load=kinds, namespaces=["seeded_kinds"], mode="quick", seed=seed, jobs=2)
    alarms = [name for name, _ in failed(found) if "_ok" in name]
    assert not alarms and failed(found) >= KINDS, found.text
