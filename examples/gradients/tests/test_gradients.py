"""Every formula of derivatives.yaml beside finite differences, on calls drawn from the schemas.

`python -m pytest -rP tests/test_gradients.py` prints how many calls were drawn, refused and checked.
"""

from __future__ import annotations

from pathlib import Path

import graded  # which loads the operators
import pytest
import torch
from domains import DOMAINS

from opgen.gradtest import Gradient, gradients

assert graded.__name__ == "graded"
SCHEMAS = Path(__file__).parents[1] / "native_functions.yaml"


@pytest.mark.parametrize("gradient", gradients(SCHEMAS, target="torch"), ids=str)
def test_gradient(gradient: Gradient) -> None:
    gradient.check(torch, DOMAINS)
