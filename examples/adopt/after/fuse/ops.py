"""Python functions for the operators, their fake kernels, and the gradient of muladd."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def muladd(a: Tensor, b: Tensor, c: float) -> Tensor:
    """Return a * b + c, computed in one pass."""
    return torch.ops.fuse.muladd.default(a, b, c)


def mul(a: Tensor, b: Tensor) -> Tensor:
    """Return a * b."""
    return torch.ops.fuse.mul.default(a, b)


def add_out(a: Tensor, b: Tensor, out: Tensor) -> None:
    """Write a + b into out."""
    torch.ops.fuse.add_out.default(a, b, out)


@torch.library.register_fake("fuse::muladd")
def _(a: Tensor, b: Tensor, c: float) -> Tensor:
    torch._check(a.shape == b.shape)
    return torch.empty_like(a, memory_format=torch.contiguous_format)


@torch.library.register_fake("fuse::mul")
def _(a: Tensor, b: Tensor) -> Tensor:
    torch._check(a.shape == b.shape)
    return torch.empty_like(a, memory_format=torch.contiguous_format)


def _setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, float], output: Tensor) -> None:
    a, b, _ = inputs
    ctx.save_for_backward(
        a if ctx.needs_input_grad[1] else None, b if ctx.needs_input_grad[0] else None
    )


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
    a, b = ctx.saved_tensors
    of_a = None if b is None else torch.ops.fuse.mul.default(grad, b)
    of_b = None if a is None else torch.ops.fuse.mul.default(grad, a)
    return of_a, of_b, None


torch.library.register_autograd("fuse::muladd", _backward, setup_context=_setup_context)
