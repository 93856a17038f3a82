"""Compare the operators of mylib with PyTorch's, and check that they follow PyTorch's rules."""

import pytest
import torch
from torch.library import opcheck

import mylib

OPERATORS = torch.ops.mylib
CASES = {
    "mix": (OPERATORS.mix.default, (torch.randn(3, 4), torch.randn(4), 0.25), {}),
    "mix_": (OPERATORS.mix_.default, (torch.randn(3, 4), torch.randn(4)), {}),
    "mix.out": (OPERATORS.mix.out, (torch.randn(3), torch.randn(3)), {"out": torch.empty(3)}),
    "running_sum": (OPERATORS.running_sum.default, (torch.randn(5),), {}),
    "running_sum.out": (OPERATORS.running_sum.out, (torch.randn(5),), {"out": torch.empty(5)}),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mix(dtype: torch.dtype) -> None:
    a, b = torch.randn(4, 3, dtype=dtype).t(), torch.randn(4, dtype=dtype)
    expected = torch.lerp(a, b.expand(3, 4), 0.25)
    torch.testing.assert_close(mylib.mix(a, b, 0.25), expected)
    out = torch.empty(3, 4, dtype=dtype)
    assert mylib.mix(a, b, 0.25, out=out) is out
    torch.testing.assert_close(out, expected)
    assert mylib.mix_(a, b, 0.25) is a
    torch.testing.assert_close(a, expected)


def test_running_sum() -> None:
    a = torch.randn(10)[::2]
    torch.testing.assert_close(mylib.running_sum(a), a.cumsum(0))
    torch.testing.assert_close(mylib.running_sum(a, True), a.flip(0).cumsum(0).flip(0))
    with pytest.raises(RuntimeError, match="2 dimensions, not 1"):
        mylib.running_sum(torch.ones(2, 2))


def test_meta_tensors() -> None:
    a = torch.empty(2, 1, device="meta")
    assert mylib.mix(a, torch.empty(3, device="meta")).shape == (2, 3)


@pytest.mark.parametrize("name", CASES)
def test_it_passes_opcheck(name: str) -> None:
    operator, arguments, keywords = CASES[name]
    opcheck(operator, arguments, keywords)


def test_it_compiles() -> None:
    def both(a: torch.Tensor) -> torch.Tensor:
        return mylib.mix_(mylib.running_sum(a), a)

    compiled = torch.compile(both, backend="aot_eager", fullgraph=True, dynamic=True)
    for length in (5, 7):
        a = torch.randn(length)
        torch.testing.assert_close(compiled(a), both(a))


def test_it_compiles_with_its_gradient() -> None:
    def loss(a: torch.Tensor) -> torch.Tensor:
        return (mylib.mix(mylib.running_sum(a), a) ** 2).sum()

    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True, dynamic=True)
    for length in (5, 7):
        a = torch.randn(length, requires_grad=True)
        (found,), (expected,) = torch.autograd.grad(compiled(a), a), torch.autograd.grad(loss(a), a)
        torch.testing.assert_close(found, expected)
