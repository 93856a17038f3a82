"""Composite kernels of native_functions.yaml only call operators: no `data_ptr`, `resize_`, out= or `item`.

Each runs on the inputs of the comparison with PyTorch, with substitutes for its tensors that have no bytes
(composite_compliance.h), and must still give PyTorch's results.
"""

from __future__ import annotations

from typing import Any

import pytest

import opgen
from differential.numerics import exceptions
from differential.numerics.driver import Library
from differential.numerics.values import DTYPES
from opgen.model.dispatch_key import DispatchKey
from opgen.resolve.dispatch_tables import find_registration
from support.library import own_registry
from support.selection import each

# Inputs per overload and dtype.
COUNT = 4

_RESIZES = ("calls resize_() on memory", "the runtime resizes the output of an out= operator")

# Composite kernels that make such calls nevertheless, each with the reason. PyTorch's kernels make the same calls.
OFFENDERS = {
    "item": ("calls aten::_local_scalar_dense", "reading a number is its purpose"),
    "is_nonzero": ("calls aten::item", "it returns a bool, not a tensor"),
    "empty.out": _RESIZES,
    "rand.generator_out": _RESIZES,
    "randn.out": _RESIZES,
    "randn.generator_out": _RESIZES,
    "one_hot": ("calls aten::item", "without num_classes, the largest class decides the size"),
    "tensor_split.tensor_indices_or_sections": (
        "calls aten::item",
        "the sizes of views must be numbers, not a tensor",
    ),
    "narrow.Tensor": ("calls aten::item", "the size of a view must be a number, not a tensor"),
}


def _composites() -> tuple[str, ...]:
    registry = own_registry()
    return tuple(
        str(f.func.name)
        for f in registry.functions
        if find_registration(registry, f, DispatchKey.CompositeImplicitAutograd) is not None
        and str(f.func.name) not in exceptions.EXEMPT
    )


@pytest.fixture(scope="module")
def checker(library: Library, registry: opgen.Registry, torch_installed: None) -> Any:
    check = pytest.importorskip("differential.numerics.check")
    return check.Checker(library, registry)


@each("overload", _composites())
def test_composites_only_call_operators(
    overload: str, checker: Any, library: Library, capfd: pytest.CaptureFixture[str]
) -> None:
    """Protects new backends, vmap, tracing and autograd, which all rely on it."""
    with library.composite_compliance():
        reports = [checker.check(overload, dtype, COUNT) for dtype in DTYPES]
    capfd.readouterr()  # Warnings about out arguments that are resized.
    failures = [str(failure) for report in reports for failure in report.failures]
    if overload in OFFENDERS:
        act, _ = OFFENDERS[overload]
        caught = f"aten::{overload} is composite, but its kernel {act}"
        assert any(caught in failure for failure in failures)
    elif failures:
        pytest.fail("\n\n".join(failures[:3]), pytrace=False)


def test_there_are_many() -> None:
    assert len(_composites()) > 70
    assert set(OFFENDERS) <= set(_composites())
