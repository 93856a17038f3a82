"""The test that an author writes: it compares every formula with finite differences. GRADED is the library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from gradients import DOMAINS

from opgen.gradtest import Gradient, gradients

torch.ops.load_library(os.environ["GRADED"])


@pytest.mark.parametrize(
    "gradient", gradients(Path(__file__).with_name("native_functions.yaml")), ids=str
)
def test_gradient(gradient: Gradient) -> None:
    gradient.check(torch, DOMAINS)
