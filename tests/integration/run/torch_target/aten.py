"""Compare `both::plus` with at::add: effects of out= and in-place on shapes, dtypes, strides and overlap, and the
exact errors.

python aten.py LIBRARY [COUNT]

COUNT is the number of random calls of each of four kinds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.both

SHAPES = ((3, 4), (4,), (3, 1), (1, 4), (), (0, 4), (2, 3, 4), (2, 4))
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.float16)


def outcome(call: Callable[[], torch.Tensor]) -> Any:
    """Return what a caller sees: the tensor with its layout, or the exception's first line."""
    try:
        result = call()
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]
    return result.dtype, result.shape, result.stride(), result.tolist()


def tensor(rng: random.Random, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Return a tensor of this shape, its dimensions in any order in memory, sometimes with gaps."""
    order = rng.sample(range(len(shape)), len(shape))
    stored = torch.randint(0, 9, [shape[i] for i in order], dtype=torch.int64).to(dtype)
    if shape and rng.random() < 0.2:
        stored = torch.stack((stored, stored), -1)[..., 0]
    return stored.permute([order.index(i) for i in range(len(shape))])


def functional(rng: random.Random) -> tuple[Any, Any]:
    a, b = (tensor(rng, rng.choice(SHAPES), rng.choice(DTYPES)) for _ in range(2))
    return outcome(lambda: ops.plus(a, b)), outcome(lambda: torch.add(a, b))


def in_place(rng: random.Random) -> tuple[Any, Any]:
    a, b = (tensor(rng, rng.choice(SHAPES), rng.choice(DTYPES)) for _ in range(2))
    one, two = a.clone(), a.clone()
    return outcome(lambda: ops.plus_(one, b)), outcome(lambda: two.add_(b))


def out(rng: random.Random) -> tuple[Any, Any]:
    a, b = (tensor(rng, rng.choice(SHAPES), rng.choice(DTYPES)) for _ in range(2))
    shape = (0,) if rng.random() < 0.3 else rng.choice(SHAPES)
    given = tensor(rng, shape, rng.choice(DTYPES))
    one, two = given.clone(), given.clone()
    return outcome(lambda: ops.plus(a, b, out=one)), outcome(
        lambda: torch.ops.aten.add(a, b, out=two)
    )


def overlapped(rng: random.Random) -> tuple[Any, Any]:
    """Call with three parts of one memory, which may overlap: in-place, or with one of them as out=.

    Where an element is written twice, or read after it is written, only the layout or the error is compared: PyTorch does
    not detect all such calls, and the values depend on the order of its loops.
    """
    sizes = rng.choice(((4,), (2, 3), (3, 2)))
    places = [
        (rng.choice(((1, 2), (3, 1), (2, 1), (1, 3), (0, 1), (1, 0)))[-len(sizes) :], start)
        for start in rng.choices(range(9), k=3)
    ]
    is_in_place = rng.random() < 0.4
    addresses = torch.arange(24)
    touched = [addresses.as_strided(sizes, *place).flatten().tolist() for place in places]
    written = 0 if is_in_place else 2
    others = [i for i in range(2 if is_in_place else 3) if places[i] != places[written]]
    has_values = len({*touched[written]}) == len(touched[written]) and not any(
        {*touched[written]} & {*touched[i]} for i in others
    )

    def call(add_into: Callable[..., Any], add_in_place: Callable[..., Any]) -> Any:
        memory = torch.arange(24.0)
        a, b, out = (memory.as_strided(sizes, *place) for place in places)
        found = outcome(lambda: add_in_place(a, b) if is_in_place else add_into(a, b, out))
        return (*found, memory.tolist()) if has_values else found[:3]

    return (
        call(lambda a, b, out: ops.plus(a, b, out=out), ops.plus_),
        call(lambda a, b, out: torch.add(a, b, out=out), torch.Tensor.add_),
    )


def overlapping() -> tuple[tuple[Any, Any], ...]:
    """Return memory that is written twice, or read after it is written."""

    def both_of(call: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
        ours = outcome(lambda: call(torch.arange(12.0), ops.plus))
        return ours, outcome(lambda: call(torch.arange(12.0), torch.add))

    return (
        both_of(lambda m, f: f(m[:4], m[4:8], out=m[1:5])),
        both_of(lambda m, f: f(m[:4], m[4:8], out=m[:4])),
        both_of(lambda m, f: f(m[:4], m[4:8], out=m[:1].expand(4))),
        both_of(lambda m, f: f(m[:6].view(2, 3), m[6:].view(2, 3), out=m[:6].view(3, 2).t())),
    )


def main() -> None:
    seed = 20260
    rng = random.Random(seed)
    torch.manual_seed(seed)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    for kind in (functional, in_place, out, overlapped):
        seen = set()
        for number in range(count):
            ours, theirs = kind(rng)
            assert ours == theirs, f"{kind.__name__} {number} of seed {seed}:\n{ours}\n{theirs}"
            seen.add(theirs[0])
        # Dtypes and an error, or float32 and an error.
        assert len(seen) > (1 if kind is overlapped else 3), seen
    for ours, theirs in overlapping():
        assert ours == theirs, f"{ours}\n{theirs}"


main()
