"""Every formula beside finite differences, on calls drawn from the schemas.

The package that `import lookup` finds decides about the target: opgen's runtime or PyTorch.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import lookup
import pytest
from domains import DOMAINS

from opgen.gradtest import Gradient, gradients

SCHEMAS = Path(__file__).parents[1] / "native_functions.yaml"
# The package for the runtime has a class Tensor.
TARGET = "runtime" if hasattr(lookup, "Tensor") else "torch"
FRAMEWORK = lookup if TARGET == "runtime" else importlib.import_module("torch")


@pytest.mark.parametrize("gradient", gradients(SCHEMAS, target=TARGET), ids=str)
def test_gradient(gradient: Gradient) -> None:
    gradient.check(FRAMEWORK, DOMAINS)
