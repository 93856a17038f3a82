"""The library of our own operators as a Python package: it has everything in the schema, and works."""

from __future__ import annotations

import pytest

import opgen
from opgen.model.native_function import NativeFunction, Variant
from opgen.python.check import is_bound
from support.build import REPOSITORY
from support.library import own_operators
from support.python_package import run_python

pytestmark = pytest.mark.slow

# Operators that PyTorch binds by hand, and that are bound from their schema here.
BOUND_HERE = {"contiguous", "copy_", "nonzero", "to"}


@pytest.fixture(scope="module")
def bound() -> list[NativeFunction]:
    registry = opgen.load([REPOSITORY / "native_functions.yaml"])
    return [f for f in registry.functions if is_bound(f) or str(f.func.name.name) in BOUND_HERE]


def test_every_function_and_method_is_there(bound: list[NativeFunction]) -> None:
    """Protects the names made from `variants` and `python_module`, for each of our operators."""
    functions = {(f.python_module or "", _name(f)) for f in bound if Variant.function in f.variants}
    methods = {_name(f) for f in bound if Variant.method in f.variants}
    assert len(functions) > 180 and len(methods) > 150
    run_python(
        f"""
        import importlib, aten
        for module, name in {sorted(functions)!r}:
            place = importlib.import_module("aten." + module) if module else aten
            function = getattr(place, name)
            assert function.__name__ == name and type(function).__name__ == "Function", name
            assert "aten::" + name in function.__doc__, name
        for name in {sorted(methods)!r}:
            assert getattr(aten.Tensor, name).__qualname__ == "Tensor." + name, name
        """,
        own_operators().packages,
    )


def test_nothing_else_is_there(bound: list[NativeFunction]) -> None:
    """Protects the skip list: an operator without a binding is not a name of the package."""
    functions = {_name(f) for f in bound if Variant.function in f.variants or f.python_module}
    run_python(
        f"""
        import aten
        places = [aten, *(v for v in vars(aten).values() if type(v) is type(aten))]
        found = {{n for p in places for n, v in vars(p).items() if type(v).__name__ == "Function"}}
        assert found == {functions!r}, found ^ {functions!r}
        """,
        own_operators().packages,
    )


def test_operators_of_all_kinds_give_their_numbers() -> None:
    """Protects the build as a whole: pointwise, reduction, product, view, factory, random, foreach."""
    run_python(
        """
        import aten
        a = aten.tensor([[1.0, 2.0], [3.0, 4.0]])
        assert (a + 1).tolist() == [[2, 3], [4, 5]] and (a @ a).tolist() == [[7, 10], [15, 22]]
        assert a.sum().item() == 10 and a.max(1).values.tolist() == [2, 4]
        assert a.transpose(0, 1).stride() == (1, 2) and a.transpose(0, 1).data_ptr() == a.data_ptr()
        assert aten.arange(3).tolist() == [0, 1, 2] and aten.zeros(2, 3).shape == (2, 3)
        aten.manual_seed(1)
        first = aten.rand(4).tolist()
        aten.manual_seed(1)
        assert aten.rand(4).tolist() == first
        assert [t.tolist() for t in aten._foreach_add([a, a], 1)] == [[[2, 3], [4, 5]]] * 2
        """,
        own_operators().packages,
    )


def test_a_list_of_tensors_is_not_a_list_of_numbers() -> None:
    """Protects the choice of an overload: that for numbers would lose the dtype of tensors without dimensions."""
    run_python(
        """
        import aten
        truth, number = aten.tensor(True), aten.tensor(2.0, dtype="float64")
        (product,) = aten._foreach_mul([truth], [number])
        assert product.dtype == aten.float64, product.dtype
        (product,) = aten._foreach_mul([truth], [2.0])
        assert product.dtype == aten.float32, product.dtype
        """,
        own_operators().packages,
    )


def _name(f: NativeFunction) -> str:
    return str(f.func.name.name)
