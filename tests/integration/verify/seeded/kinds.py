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
    name = library.define(schema)
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
