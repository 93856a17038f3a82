"""Random calls of every operator of operators.yaml: `CALLS` has a function for each that makes arguments."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.float16)
Call = tuple[str, list[Any], dict[str, Any]]


def sizes(rng: random.Random, most: int = 5) -> list[int]:
    return [
        rng.choice((0,) if rng.random() < 0.04 else (1, 2, 3, 4, 5))
        for _ in range(rng.randint(0, most))
    ]


def tensor(rng: random.Random, shape: list[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    """Return a tensor of this shape: dimensions in any order in memory, channels last, with gaps, or expanded."""
    dtype = dtype or rng.choice(DTYPES)
    kind = rng.random()
    order = list(range(len(shape)))
    if kind < 0.5:
        rng.shuffle(order)
    elif kind < 0.6 and len(shape) in (4, 5):
        order = [0, *range(2, len(shape)), 1]
    stored = [shape[i] for i in order]
    if shape and rng.random() < 0.15:
        stored[-1] = stored[-1] * 2
        base = torch.randint(1, 5, stored)[..., ::2]
    elif shape and rng.random() < 0.15:
        expanded = [1 if rng.random() < 0.5 else n for n in stored]
        base = torch.randint(1, 5, expanded).expand(stored)
        return _typed(base, dtype).permute([order.index(i) for i in range(len(shape))])
    else:
        base = torch.randint(1, 5, stored)
    return _typed(base, dtype).permute([order.index(i) for i in range(len(shape))])


def _typed(base: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Convert the dtype and keep the strides: `to` would make gaps and expanded dimensions dense."""
    if 0 in base.shape:
        return base.to(dtype)
    size = 1 + sum((n - 1) * s for n, s in zip(base.shape, base.stride()))
    memory = torch.randint(1, 5, (size,)).to(dtype)
    return memory.as_strided(base.shape, base.stride())


def partner(rng: random.Random, shape: list[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    """Return a tensor that broadcasts with one of `shape`; in half of the cases it has the same shape."""
    if rng.random() < 0.4:
        return tensor(rng, shape, dtype)
    own = shape[rng.randint(0, len(shape)) :]
    return tensor(rng, [1 if rng.random() < 0.25 else n for n in own], dtype)


def binary(name: str) -> Callable[[random.Random], Call]:
    def make(rng: random.Random) -> Call:
        shape = sizes(rng)
        return name, [partner(rng, shape), partner(rng, shape)], {}

    return make


def same_order(name: str) -> Callable[[random.Random], Call]:
    """Return operands with the same strides, or with the same order of dimensions."""

    def make(rng: random.Random) -> Call:
        first = tensor(rng, sizes(rng))
        other = torch.empty_strided(first.shape, first.stride(), dtype=rng.choice(DTYPES)).fill_(2)
        return name, [first, other], {}

    return make


def unary(name: str, *dtypes: torch.dtype) -> Callable[[random.Random], Call]:
    def make(rng: random.Random) -> Call:
        return name, [tensor(rng, sizes(rng), rng.choice(dtypes or DTYPES))], {}

    return make


def blend(rng: random.Random) -> Call:
    shape, dtype = sizes(rng), rng.choice(DTYPES)
    return "blend", [partner(rng, shape, dtype) for _ in range(3)], {}


def bounded(rng: random.Random) -> Call:
    name, arguments, _ = unary("bounded", torch.float32, torch.int64)(rng)
    return name, [*arguments, 1, rng.choice((None, 3))], {}


def filled(rng: random.Random) -> Call:
    return "filled", [tensor(rng, [2]), sizes(rng), 1], {}


def summed(rng: random.Random) -> Call:
    value = tensor(rng, sizes(rng))
    count = rng.randint(0, value.dim())
    dims = rng.choice((None, rng.sample(range(value.dim()), count)))
    return "summed", [value, dims, rng.random() < 0.5], {"dtype": torch.float64}


def extremes(rng: random.Random) -> Call:
    value = tensor(rng, [max(1, n) for n in (*sizes(rng, 3), 3)], torch.float32)
    return "extremes", [value, rng.randint(-value.dim(), value.dim() - 1)], {}


def columns(rng: random.Random) -> Call:
    return "columns", [tensor(rng, [rng.randint(0, 4), rng.randint(0, 4)])], {}


def enlarged(rng: random.Random) -> Call:
    value = tensor(rng, [rng.randint(1, 3) for _ in range(4)], torch.float32)
    return "enlarged", [value, [value.shape[2] + rng.randint(0, 3), value.shape[3] * 2]], {}


def windows(rng: random.Random) -> Call:
    value = tensor(rng, [rng.randint(3, 9)])
    return "windows", [value, rng.randint(1, 3), rng.choice((None, 2))], {}


def spread(rng: random.Random) -> Call:
    value = tensor(rng, sizes(rng, 3))
    return "spread", [value, rng.choice((None, [3, *value.shape]))], {}


def scaled(rng: random.Random) -> Call:
    n = rng.randint(0, 4)
    value = tensor(rng, [rng.randint(0, 4), n], torch.float32)
    parts = [rng.choice((None, tensor(rng, [n], torch.float32))) for _ in range(2)]
    return "scaled", [value, *parts], {}


def joined(rng: random.Random) -> Call:
    shape = [3, *sizes(rng, 3)]
    dim = rng.randint(-len(shape), len(shape) - 1)
    tensors = []
    for _ in range(rng.randint(1, 3)):
        shape[dim] = rng.randint(1, 4)
        tensors.append(tensor(rng, shape, torch.float32))
    return "joined", [tensors, dim], {}


def present(rng: random.Random) -> Call:
    others = [rng.choice((None, tensor(rng, [2]))) for _ in range(rng.randint(0, 3))]
    return "present", [tensor(rng, sizes(rng, 3)), others], {}


# The iterator has the most cases, so its operators are called more often.
CALLS: tuple[Callable[[random.Random], Call], ...] = (
    *[binary("plus")] * 4,
    *[same_order("plus")] * 2,
    *[binary("in_order")] * 2,
    *[binary("divided")] * 2,
    *[blend] * 2,
    binary("quotient"),
    binary("below"),
    unary("opposite", torch.float32, torch.int64),
    unary("root"),
    unary("vanishes"),
    bounded,
    filled,
    summed,
    extremes,
    columns,
    enlarged,
    windows,
    spread,
    scaled,
    joined,
    present,
)


def outputs(result: Any) -> tuple[torch.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)


# The names of an operator's out arguments, and whether its results may be given.
OUTS = {"divided": ("quotient", "rest"), "extremes": ("least", "greatest")}


def given_outputs(
    rng: random.Random, name: str, results: tuple[torch.Tensor, ...]
) -> dict[str, Any]:
    """Return out= tensors of the results' dtypes: of their sizes with any strides, or empty."""
    outs = {}
    for key, result in zip(OUTS.get(name, ("out",)), results):
        shape = list(result.shape) if name == "filled" or rng.random() < 0.6 else [0]
        outs[key] = torch.empty_strided(shape, dense_strides(rng, shape), dtype=result.dtype)
    return outs


def dense_strides(rng: random.Random, shape: list[int]) -> list[int]:
    strides, step = [0] * len(shape), 1
    for dim in rng.sample(range(len(shape)), len(shape)):
        strides[dim] = step
        step *= max(1, shape[dim])
    return strides
