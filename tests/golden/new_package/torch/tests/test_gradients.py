"""Compare every formula of derivatives.yaml with finite differences, on random calls that fit the schemas.

`python -m pytest -rP tests/test_gradients.py` prints how many calls were generated, rejected by the kernels, and checked.
"""

from pathlib import Path

import pytest
import torch

import mylib
from opgen.gradtest import Domain, Gradient, gradients

SCHEMAS = Path(__file__).parents[1] / "native_functions.yaml"

# Restrictions that a schema cannot express, for example: "mylib::my_log": Domain(self=positive)
DOMAINS: dict[str, Domain] = {}


@pytest.mark.parametrize("gradient", gradients(SCHEMAS, target="torch"), ids=str)
def test_gradient(gradient: Gradient) -> None:
    gradient.check(torch, DOMAINS)
