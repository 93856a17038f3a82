"""The Python part of seeded_hand: fakes, a batching rule, a decomposition. Loads the library that $SEEDED_HAND names."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import torch

torch.ops.load_library(os.environ["SEEDED_HAND"])
register_fake = torch.library.register_fake


def both(name: str, fake: Callable[..., Any]) -> None:
    """Register one fake for an operator and its twin."""
    pair(name, fake, fake)


def pair(name: str, broken: Callable[..., Any], good: Callable[..., Any]) -> None:
    base, _, overload = name.partition(".")
    twin = f"{base[:-1]}_ok_" if base.endswith("_") else f"{base}_ok"
    register_fake(f"seeded_hand::{name}", broken)
    register_fake(f"seeded_hand::{twin}{'.' + overload if overload else ''}", good)


def floating(x: torch.Tensor) -> None:
    torch._check(x.is_floating_point(), lambda: "expected floating-point numbers")


def usual(x: torch.Tensor) -> None:
    """float32 and float64."""
    torch._check(x.dtype in (torch.float32, torch.float64), lambda: "expected float or double")


def matrix(x: torch.Tensor) -> None:
    torch._check(x.dim() == 2, lambda: "expected a matrix")


def dense(x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return x.new_empty(x.shape)


def like_usual(x: torch.Tensor) -> torch.Tensor:
    usual(x)
    return dense(x)


def like_floating(x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    floating(x)
    return dense(x)


def like_matrix(x: torch.Tensor) -> torch.Tensor:
    usual(x)
    matrix(x)
    return dense(x)


for _name in ("row_diff", "row_cumsum", "rev_rows"):
    both(_name, like_matrix)
for _name in ("flip_sign", "softsign8", "scratch", "left_diff", "positive_part"):
    both(_name, like_usual)
for _name in ("wrap_read", "skip_twice", "aligned_double"):
    both(_name, like_usual)
for _name in ("dither", "noise", "keepsake", "unary_minus", "counted", "configured"):
    both(_name, like_floating)
for _name in ("borrowed", "greedy", "decomposed", "mark"):
    both(_name, like_floating)
for _name in ("doubled", "cubed", "tripled", "halved", "third", "negated"):
    both(_name, like_floating)


def transposed_copy(x: torch.Tensor) -> torch.Tensor:
    matrix(x)
    return x.new_empty(x.shape[::-1]).t()


def transposed_copy_broken(x: torch.Tensor) -> torch.Tensor:
    matrix(x)
    return dense(x)


pair("transposed_copy", transposed_copy_broken, transposed_copy)


def unit_rows(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    floating(x)
    torch._check(weight.dim() == 1 and x.dim() >= 1 and x.dtype == weight.dtype)
    torch._check(weight.size(0) == x.size(-1))
    return torch.mul(x, weight)


both("unit_rows", unit_rows)


def half_total(x: torch.Tensor) -> torch.Tensor:
    floating(x)
    return x.new_empty(())


both("half_total", half_total)


def weigh_broken(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mul(a, b.to(a.dtype))


pair("weigh", weigh_broken, torch.mul)


def spread(x: torch.Tensor, total: int) -> torch.Tensor:
    floating(x)
    torch._check(x.dim() >= 1)
    return dense(x)


both("spread", spread)


def tally(x: torch.Tensor, bins: int) -> torch.Tensor:
    torch._check(x.dtype == torch.int64)
    torch._check(0 < bins < 10000)
    return x.new_empty((bins,))


both("tally", tally)


def pad_rows(x: torch.Tensor, rows: int) -> torch.Tensor:
    matrix(x)
    torch._check(rows >= 0)
    torch._check(rows < 1000)
    return x.new_empty((x.size(0) + rows, x.size(1)))


def pad_rows_broken(x: torch.Tensor, rows: int) -> torch.Tensor:
    matrix(x)
    torch._check(rows >= 0)
    torch._check(rows < 1000)
    return x.new_empty((int(x.size(0)) + rows, x.size(1)))


pair("pad_rows", pad_rows_broken, pad_rows)


def top_rows(x: torch.Tensor) -> torch.Tensor:
    matrix(x)
    return x.new_empty((torch.sym_min(x.size(0), 1), x.size(1)))


both("top_rows", top_rows)


def retain_format_broken(x: torch.Tensor) -> torch.Tensor:
    floating(x)
    return torch.empty_like(x)


pair("retain_format", retain_format_broken, like_floating)


def bucketed_broken(x: torch.Tensor) -> torch.Tensor:
    floating(x)
    if x.numel() > 4:
        return dense(x)
    return x.new_empty(x.shape)


pair("bucketed", bucketed_broken, like_floating)


def nonempty_sum(x: torch.Tensor) -> torch.Tensor:
    floating(x)
    return x.new_empty(())


def nonempty_sum_broken(x: torch.Tensor) -> torch.Tensor:
    floating(x)
    if x.numel() == 0:
        return x.new_zeros(())
    return x.new_empty(())


pair("nonempty_sum", nonempty_sum_broken, nonempty_sum)


def elsewhere_broken(x: torch.Tensor) -> torch.Tensor:
    floating(x)
    return torch.empty(x.shape, dtype=x.dtype, device="meta")


pair("elsewhere", elsewhere_broken, like_floating)


def rows_with_elements(x: torch.Tensor) -> None:
    floating(x)
    torch._check(x.dim() >= 1)
    torch._check(x.size(-1) > 0)


def argbig(x: torch.Tensor) -> torch.Tensor:
    rows_with_elements(x)
    return x.new_empty(x.shape[:-1], dtype=torch.int64)


def argbig_broken(x: torch.Tensor) -> torch.Tensor:
    rows_with_elements(x)
    return x.new_empty(x.shape[:-1])


pair("argbig", argbig_broken, argbig)


def rowmax(x: torch.Tensor, keepdim: bool = False) -> torch.Tensor:
    rows_with_elements(x)
    return x.new_empty((*x.shape[:-1], 1) if keepdim else x.shape[:-1])


def rowmax_broken(x: torch.Tensor, keepdim: bool = False) -> torch.Tensor:
    rows_with_elements(x)
    return x.new_empty(x.shape[:-1])


pair("rowmax", rowmax_broken, rowmax)


def pick(x: torch.Tensor, at: int) -> torch.Tensor:
    torch._check(x.dim() >= 1)
    torch._check(at >= 0)
    torch._check(at < x.size(0))
    return x.new_empty(x.shape[1:])


def pick_broken(x: torch.Tensor, at: int) -> torch.Tensor:
    torch._check(x.dim() >= 1)
    return x.new_empty(x.shape[1:])


pair("pick", pick_broken, pick)


def tile_add_broken(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    usual(a)
    torch._check(a.dtype == b.dtype)
    return a.new_empty(torch.broadcast_shapes(a.shape, b.shape))


pair("tile_add", tile_add_broken, torch.add)


def gather_sorted(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    torch._check(x.dim() == 1 and index.dim() == 1 and index.dtype == torch.int64)
    return x.new_empty((index.size(0),))


both("gather_sorted", gather_sorted)


def trim(x: torch.Tensor, count: int) -> torch.Tensor:
    torch._check(x.dim() >= 1)
    torch._check(count >= 0)
    torch._check(count <= x.size(0))
    return x.new_empty((count, *x.shape[1:]))


def trim_broken(x: torch.Tensor, count: int) -> torch.Tensor:
    trim(x, count)
    return x.narrow(0, 0, count)


pair("trim", trim_broken, trim)


def line_sums(x: torch.Tensor) -> torch.Tensor:
    usual(x)
    matrix(x)
    return x.new_empty((x.size(0),))


both("line_sums", line_sums)


def strict(x: torch.Tensor) -> torch.Tensor:
    matrix(x)
    return x.new_empty(x.shape[::-1])


both("strict", strict)


def imag_square(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.is_complex())
    return dense(x)


both("imag_square", imag_square)


def cross_add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    torch._check(a.dim() == 1 and b.dim() == 1)
    return a.new_empty((a.size(0), b.size(0)), dtype=torch.result_type(a, b))


both("cross_add", cross_add)


def batched_cross_add(broken: bool) -> Callable[..., Any]:
    def rule(info: Any, in_dims: Any, a: torch.Tensor, b: torch.Tensor) -> Any:
        at_a, at_b = in_dims
        left = a.unsqueeze(0) if at_a is None else a.movedim(at_a, 0)
        right = b.unsqueeze(0) if at_b is None else b.movedim(at_b, 0)
        result = left.unsqueeze(2) + right.unsqueeze(1)
        return result, 1 if broken else 0

    return rule


torch.library.register_vmap("seeded_hand::cross_add", batched_cross_add(True))
torch.library.register_vmap("seeded_hand::cross_add_ok", batched_cross_add(False))


def returned(self: torch.Tensor, *_: Any) -> torch.Tensor:
    floating(self)
    return self


def returned_usual(self: torch.Tensor, *_: Any) -> torch.Tensor:
    usual(self)
    return self


for _name in ("floor_at_", "mark_"):
    both(_name, returned)
for _name in ("ramp_", "smooth_", "decay_", "add_one_"):
    both(_name, returned_usual if _name in ("ramp_", "smooth_") else returned)
both("wipe_", returned)
both("smooth", like_usual)
both("shift_right", like_usual)


def absorb_(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    floating(self)
    torch._check(self.dim() == other.dim() and self.dtype == other.dtype)
    for a, b in zip(self.shape, other.shape):
        torch._check(a == b)
    return self


both("absorb_", absorb_)


def mix(x: torch.Tensor, y: torch.Tensor, weight: float = 0.25) -> torch.Tensor:
    absorb_(x, y)
    return dense(x)


def mix_(x: torch.Tensor, y: torch.Tensor, weight: float = 0.25) -> torch.Tensor:
    absorb_(x, y)
    return x


both("mix", mix)
both("mix_", mix_)


def accrue_(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    floating(self)
    torch._check(self.dtype == other.dtype)
    return self.add_(other)


both("accrue_", accrue_)


def put_at_(self: torch.Tensor, index: torch.Tensor, value: float) -> torch.Tensor:
    floating(self)
    torch._check(self.dim() == 1 and index.dim() == 1 and index.dtype == torch.int64)
    return self


both("put_at_", put_at_)


def last_column(x: torch.Tensor) -> torch.Tensor:
    matrix(x)
    torch._check(x.size(1) > 0)
    return x.select(1, -1)


both("last_column", last_column)


def flat_view(x: torch.Tensor) -> torch.Tensor:
    return x.view(-1)


both("flat_view", flat_view)


def extremes(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    floating(x)
    torch._check(x.numel() > 0)
    return x.new_empty(()), x.new_empty(())


both("extremes", extremes)


def decomposed_wrongly(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous() * 2 - 1


def decomposed_rightly(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous() * 2 + 1


def register_decompositions() -> None:
    """Register what inductor calls in place of `decomposed`."""
    register = importlib.import_module("torch._inductor.decomposition").register_decomposition
    register([torch.ops.seeded_hand.decomposed.default])(decomposed_wrongly)
    register([torch.ops.seeded_hand.decomposed_ok.default])(decomposed_rightly)


register_decompositions()
