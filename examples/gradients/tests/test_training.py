"""Training with the operators gives the losses of training with PyTorch's functions."""

from __future__ import annotations

import runpy
from pathlib import Path

TRAIN = runpy.run_path(str(Path(__file__).parents[1] / "train.py"))


def test_losses() -> None:
    ours, theirs = TRAIN["both"](steps=100)
    assert len(ours) == len(theirs) == 100
    assert max(abs(a - b) for a, b in zip(ours, theirs)) < 1e-5
    assert ours[0] > 0.5 and ours[-1] < 0.01
