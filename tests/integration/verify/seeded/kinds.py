"""Operators of the namespace seeded_kinds, registered in Python, of kinds that authors outside of this project got wrong.

A comment names the property that an operator violates. The same operator whose name ends in _ok violates none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch

library = torch.library.Library("seeded_kinds", "DEF")


def define(schema: str, kernel: Callable[..., Any], fake: Callable[..., Any] | None = None) -> None:
    library.define(schema)
    name = schema.partition("(")[0]
    library.impl(name, kernel, "CPU")
    torch.library.register_fake(f"seeded_kinds::{name}", fake or kernel, lib=library)


def pair(
    schema: str,
    broken: Callable[..., Any],
    good: Callable[..., Any],
    fake: Callable[..., Any] | None = None,
) -> None:
    name, bracket, rest = schema.partition("(")
    base, dot, overload = name.partition(".")
    ending = "_ok_" if base.endswith("_") else "_ok"
    define(schema, broken, fake)
    define(f"{base.removesuffix('_')}{ending}{dot}{overload}{bracket}{rest}", good, fake)


# A kernel that takes the time of a comparison of all pairs of elements, with all properties.
def ranks(x: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1).abs()
    return (flat[:, None] < flat[None, :]).sum(1)


define("ranks_ok(Tensor x) -> Tensor", ranks)


# vmap: a batching rule that fails in words like those of PyTorch.
def rule(info: Any, in_dims: Any, x: torch.Tensor) -> Any:
    raise RuntimeError("vmap: batches of this operator are not supported")


@torch.library.custom_op("seeded_kinds::copied", mutates_args=())
def copied(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("seeded_kinds::copied_ok", mutates_args=())
def copied_ok(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


copied.register_fake(torch.empty_like)
copied_ok.register_fake(torch.empty_like)
copied.register_vmap(rule)
copied_ok.register_vmap(lambda info, in_dims, x: (x.clone(), in_dims[0]))


# crash: one of two optional tensors is given.
def scaled(x: torch.Tensor, w: torch.Tensor | None = None, b: torch.Tensor | None = None) -> Any:
    if w is not None and b is None:
        ctypes.string_at(0)
    return scaled_ok(x, w, b)


def scaled_ok(x: torch.Tensor, w: torch.Tensor | None = None, b: torch.Tensor | None = None) -> Any:
    for value in (w, b):
        torch._check(value is None or (value.shape == x.shape and value.dtype == x.dtype))
    x = x.clone() if w is None else x + w
    return x if b is None else x + b


pair("scaled(Tensor x, Tensor? w=None, Tensor? b=None) -> Tensor", scaled, scaled_ok, scaled_ok)


# strided-inputs: the loop over whole vectors turns NaN to 0.
def positive(x: torch.Tensor) -> torch.Tensor:
    result = x.clamp(min=0)
    if x.is_contiguous():
        whole = x.numel() // 8 * 8
        result.view(-1)[:whole] = (
            torch.nan_to_num(x, 0.0, torch.inf, -torch.inf).clamp(min=0).view(-1)[:whole]
        )
    return result.to(x.dtype)


pair(
    "positive(Tensor x) -> Tensor", positive, lambda x: x.clamp(min=0).to(x.dtype), torch.empty_like
)


# strided-inputs: the last element is forgotten for 16 n + 15 elements.
def negated(x: torch.Tensor) -> torch.Tensor:
    result = x * 1
    count = x.numel() - (x.is_contiguous() and x.numel() % 16 == 15)
    result.view(-1)[:count] *= 2
    return result


pair("negated(Tensor x) -> Tensor", negated, lambda x: x * 2, lambda x: x * 2)

# inplace-agrees: infinite numbers.
define(
    "finite(Tensor x) -> Tensor",
    lambda x: torch.where(x.isinf(), x.new_zeros(()), x),
    torch.empty_like,
)
define(
    "finite_ok(Tensor x) -> Tensor",
    lambda x: torch.where(x.isinf(), x.new_zeros(()), x),
    torch.empty_like,
)
pair(
    "finite_(Tensor(a!) x) -> Tensor(a!)",
    lambda x: x,
    lambda x: x.copy_(torch.where(x.isinf(), x.new_zeros(()), x)),
    lambda x: x,
)


# strided-inputs, of an operator whose three lists must have the same length.
def mixed(xs: list[torch.Tensor], ys: list[torch.Tensor], at: list[int], dense: bool) -> Any:
    torch._check(len(xs) == len(ys) == len(at) > 0)
    for x in (*xs, *ys):
        torch._check(x.dim() == xs[0].dim() and x.dtype == xs[0].dtype)
        for size, first in zip(x.shape, xs[0].shape):
            torch._check(size == first)
    return sum(x if x.is_contiguous() or dense else x.flip(-1) for x in (*xs, *ys)) * 1


LISTS = "(Tensor[] xs, Tensor[] ys, int[] at) -> Tensor"
pair(
    f"mixed{LISTS}",
    lambda xs, ys, at: mixed(xs, ys, at, False),
    lambda xs, ys, at: mixed(xs, ys, at, True),
    lambda xs, ys, at: torch.empty_like(mixed(xs, ys, at, True) + xs[0]),
)


# repeatable: a table that is made for the first number, kept by its size.
TABLES: dict[int, torch.Tensor] = {}


def decay(x: torch.Tensor, n: int, rate: float) -> torch.Tensor:
    return torch.exp(-rate * torch.arange(abs(n) % 8, device=x.device))


def decay_kept(x: torch.Tensor, n: int, rate: float) -> torch.Tensor:
    return TABLES.setdefault(n, decay(x, n, rate)).clone()


pair("decay(Tensor x, int n, float rate) -> Tensor", decay_kept, decay, decay)

# repeatable: results lie in three buffers, which are taken in turn.
BUFFERS: dict[Any, list[torch.Tensor]] = {}


def pooled(x: torch.Tensor) -> torch.Tensor:
    if x.is_meta:
        return torch.empty_like(x)
    ring = BUFFERS.setdefault((x.shape, x.dtype), [torch.empty_like(x) for _ in range(3)])
    ring.append(ring.pop(0))
    return ring[0].copy_(x)


pair("pooled(Tensor x) -> Tensor", pooled, torch.clone, torch.empty_like)

# repeatable: the first call of a process differs.
CALLS: list[int] = []


def started(x: torch.Tensor) -> torch.Tensor:
    CALLS.append(1)
    return x.clone() if len(CALLS) > 1 else torch.zeros_like(x)


pair("started(Tensor x) -> Tensor", started, torch.clone, torch.empty_like)


# repeatable: the result depends on whether gradients are recorded.
@torch.library.custom_op("seeded_kinds::recorded", mutates_args=())
def recorded(x: torch.Tensor, train: bool) -> torch.Tensor:
    return x.clone() if train else x + x


recorded.register_fake(lambda x, train: torch.empty_like(x))
define("training(Tensor x) -> Tensor", lambda x: x + x)
library.impl(
    "training", lambda x: recorded(x, torch.is_grad_enabled() and x.requires_grad), "Autograd"
)


# backward-gradient: what is saved is overwritten by the next call; the formula of one input alone lacks a factor.
MASKS: dict[Any, torch.Tensor] = {}


class Masked(torch.autograd.Function):
    """Multiplies by a mask that all calls share."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, shared: bool) -> torch.Tensor:
        mask = (x > 0).to(x.dtype)
        ctx.mask = MASKS.setdefault((x.shape, x.dtype), mask).copy_(mask) if shared else mask
        return x * mask

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad * ctx.mask, None


class Product(torch.autograd.Function):
    """Multiplies two tensors."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        x, y = ctx.saved_tensors
        one, other = ctx.needs_input_grad
        return grad * y if one and other else grad, grad * x


def formula(name: str, kernel: Callable[..., Any], autograd: Callable[..., Any]) -> None:
    """Define an operator of real numbers with a formula that has no second derivatives."""
    define(name, kernel)
    base = name.partition("(")[0]

    def call(*inputs: Any) -> Any:
        if any(x.requires_grad for x in inputs if isinstance(x, torch.Tensor)):
            return autograd(*inputs)
        with torch._C._AutoDispatchBelowAutograd():
            return getattr(torch.ops.seeded_kinds, base)(*inputs)

    library.impl(base, call, "Autograd")


def relu(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.is_floating_point())
    return x * (x > 0).to(x.dtype)


def multiplied(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    torch._check(x.is_floating_point() and x.dtype == y.dtype and x.dim() == y.dim())
    for size, other in zip(x.shape, y.shape):
        torch._check(size == other)
    return x * y


formula("masked(Tensor x) -> Tensor", relu, lambda x: Masked.apply(x, True))
formula("multiplied(Tensor x, Tensor y) -> Tensor", multiplied, Product.apply)


# out-resizes, out-refuses: out= of the same rank is not resized; one of another dtype receives other numbers.
def doubled_out(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    if out.dim() != x.dim() or out.numel() == 0:
        out.resize_(x.shape)
    smallest = tuple(slice(min(pair)) for pair in zip(out.shape, x.shape))
    out[smallest] = (2 * x)[smallest].to(out.dtype)
    return out


def squared_out(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    torch._check(torch.can_cast(x.dtype, out.dtype))
    out.resize_(x.shape)
    numbers = x * x
    return out.copy_(numbers if out.dtype == x.dtype else numbers.view(torch.uint8).sum())


define("doubled(Tensor x) -> Tensor", lambda x: 2 * x)
define("doubled.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", doubled_out, lambda x, out: out)
define("squared(Tensor x) -> Tensor", lambda x: x * x)
define("squared.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", squared_out, lambda x, out: out)


# meta-refuses: a number is stored in 32 bits.
def row(x: torch.Tensor, at: int) -> torch.Tensor:
    torch._check(x.dim() > 0)
    torch._check(at >= 0)
    torch._check(at < x.size(0))
    return x.select(0, at).clone()


pair("row(Tensor x, int at) -> Tensor", lambda x, at: row(x, at % 2**32), row, row)


# Stairs have a gradient of zero, and finite differences that see many of them at once.
class Stairs(torch.autograd.Function):
    """Rounds to multiples of 1e-6."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return stairs(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return torch.zeros_like(grad)


def stairs(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.dtype == torch.float64)
    return torch.round(x, decimals=6)


formula("stairs_ok(Tensor x) -> Tensor", stairs, Stairs.apply)

# The order of edges matters, if not for a few of them: most lie above the number.
define(
    "edges_below_ok(Tensor edges, float x) -> Tensor",
    lambda edges, x: torch.bucketize(torch.tensor(x), edges.detach().flatten()),
    lambda edges, x: edges.new_empty((), dtype=torch.int64),
)


# meta-refuses: an index is out of range, whatever its elements are; Meta need not ask how many rows there are.
def rows(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    torch._check(x.dim() == 2 and index.dim() == 1 and index.dtype == torch.int64)
    return x[index] if not x.is_meta else x.new_empty((index.size(0), x.size(1)))


define("rows_ok(Tensor x, Tensor index) -> Tensor", rows)
