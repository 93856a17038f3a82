"""Every formula of derivatives.yaml beside finite differences, on calls drawn from the schemas.

`python -m pytest -rP tests/test_gradients.py` prints how many calls were drawn, refused and checked.
"""

from pathlib import Path

import pytest
import torch

import mylib
from opgen.gradtest import Domain, Gradient, gradients

SCHEMAS = Path(__file__).parents[1] / "native_functions.yaml"

# What the schemas do not say: "mylib::my_log": Domain(self=positive)
DOMAINS: dict[str, Domain] = {}


@pytest.mark.parametrize("gradient", gradients(SCHEMAS, target="torch"), ids=str)
def test_gradient(gradient: Gradient) -> None:
    gradient.check(torch, DOMAINS)
