"""Test the package fuse. The tests pass with before/ and with after/ installed."""

from __future__ import annotations

import fuse
import pytest
import torch


def pair(*sizes: int, requires_grad: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    one, other = (torch.randn(sizes, generator=generator) for _ in range(2))
    return one.requires_grad_(requires_grad), other.requires_grad_(requires_grad)


@pytest.mark.parametrize("sizes", [(5,), (3, 4), (0, 2), (2, 3, 4)])
def test_values(sizes: tuple[int, ...]) -> None:
    a, b = pair(*sizes)
    torch.testing.assert_close(fuse.ops.muladd(a, b, 0.5), a * b + 0.5)
    torch.testing.assert_close(
        fuse.ops.mul(a.mT if a.dim() > 1 else a, b.mT if b.dim() > 1 else b).sum(), (a * b).sum()
    )
    out = torch.full_like(a, 9.0)
    assert fuse.ops.add_out(a, b, out) is None
    torch.testing.assert_close(out, a + b)


def test_invalid_arguments() -> None:
    a, b = pair(3)
    with pytest.raises(RuntimeError, match="differ"):
        fuse.ops.mul(a, b[:2])
    with pytest.raises(RuntimeError, match="float32"):
        fuse.ops.mul(a.double(), b.double())


@pytest.mark.parametrize("requires_grad", [False, True])
def test_opcheck(requires_grad: bool) -> None:
    a, b = pair(3, 4, requires_grad=requires_grad)
    torch.library.opcheck(torch.ops.fuse.muladd.default, (a, b, 0.5))
    if not requires_grad:
        torch.library.opcheck(torch.ops.fuse.mul.default, (a, b))
        torch.library.opcheck(torch.ops.fuse.add_out.default, (a, b, torch.empty(3, 4)))


def test_the_gradient_of_muladd() -> None:
    a, b = pair(3, 4, requires_grad=True)
    ours = torch.autograd.grad(fuse.ops.muladd(a, b, 0.5).square().sum(), (a, b))
    theirs = torch.autograd.grad((a * b + 0.5).square().sum(), (a, b))
    torch.testing.assert_close(ours, theirs)
    (alone,) = torch.autograd.grad(fuse.ops.muladd(a, b.detach(), 0.5).sum(), a)
    torch.testing.assert_close(alone, b.detach())


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_one_compiled_graph(backend: str, dynamic: bool) -> None:
    def f(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        fuse.ops.add_out(a, b, out)
        return fuse.ops.muladd(a, out, 1.5) + fuse.ops.mul(a, b)

    compiled = torch.compile(f, fullgraph=True, dynamic=dynamic, backend=backend)
    a, b = pair(3, 4)
    given, expected = torch.zeros(3, 4), torch.zeros(3, 4)
    torch.testing.assert_close(compiled(a, b, given), f(a, b, expected))
    torch.testing.assert_close(given, expected)
    torch.testing.assert_close(given, a + b)


def test_a_compiled_gradient() -> None:
    a, b = pair(3, 4, requires_grad=True)
    compiled = torch.compile(fuse.ops.muladd, fullgraph=True, backend="aot_eager")
    ours = torch.autograd.grad(compiled(a, b, 0.5).square().sum(), (a, b))
    theirs = torch.autograd.grad((a * b + 0.5).square().sum(), (a, b))
    torch.testing.assert_close(ours, theirs)
