"""Random inputs for the operators of the slice: most are valid, some must be rejected."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
Recipe: TypeAlias = Callable[[random.Random], Arguments]

FLOATS = (torch.float32, torch.float64)
DTYPES = (
    *FLOATS * 3,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
)
SHAPES = ((3, 4), (4,), (3, 1), (1, 4), (), (0, 4), (2, 3, 4), (2, 1, 4), (2, 3, 4, 5), (1,))


def tensor(
    rng: random.Random,
    shape: tuple[int, ...] | None = None,
    dtype: torch.dtype | None = None,
    overlapping: bool = True,
) -> torch.Tensor:
    """Return a tensor of this shape: its dimensions in any order in memory, with gaps, with an offset, or repeated."""
    shape = rng.choice(SHAPES) if shape is None else shape
    dtype = rng.choice(DTYPES) if dtype is None else dtype
    order = list(range(len(shape)))
    chance = rng.random()
    if chance < 0.4:
        rng.shuffle(order)
    elif chance < 0.5 and len(shape) == 4:
        order = [0, 2, 3, 1]
    sizes = [shape[i] for i in order]
    stored = elements(rng, sizes, dtype)
    chance = rng.random()
    if shape and chance < 0.15:
        stored = torch.stack((stored, stored), -1)[..., 1]
    elif shape and chance < 0.25:
        stored = torch.cat((stored, stored), -1).narrow(-1, sizes[-1] // 2, sizes[-1])
    elif shape and chance < 0.3 and overlapping:
        stored = stored.narrow(-1, 0, min(1, sizes[-1])).expand(sizes)
    return stored.permute([order.index(i) for i in range(len(shape))])


def elements(rng: random.Random, sizes: list[int], dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_floating_point or dtype.is_complex:
        stored = torch.randn(sizes, dtype=torch.float64) * 3
        if rng.random() < 0.1:
            strange = torch.tensor(
                [float("nan"), float("inf"), -float("inf"), 0.0], dtype=torch.float64
            )
            stored = torch.where(
                torch.rand(sizes) < 0.2, strange[torch.randint(0, 4, sizes)], stored
            )
        return stored.to(dtype)
    return torch.randint(0 if dtype in (torch.bool, torch.uint8) else -4, 9, sizes).to(dtype)


def broadcast(rng: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts with `shape`; rarely one that may not."""
    chance = rng.random()
    if chance < 0.4:
        return shape
    if chance < 0.5:
        return rng.choice(SHAPES)
    kept = shape[rng.randrange(len(shape) + 1) :]
    return tuple(1 if rng.random() < 0.3 else n for n in kept)


def operands(count: int) -> Recipe:
    """Return tensors that broadcast, of one dtype or several; the last sometimes has no dimension."""

    def recipe(rng: random.Random) -> Arguments:
        first = tensor(rng)
        found: list[Any] = [first]
        for _ in range(count - 1):
            dtype = first.dtype if rng.random() < 0.5 else None
            found.append(tensor(rng, broadcast(rng, tuple(first.shape)), dtype))
        if count > 1 and rng.random() < 0.2:
            found[-1] = tensor(rng, ())
        return tuple(found), {}

    return recipe


def with_keywords(recipe: Recipe, **choices: tuple[Any, ...]) -> Recipe:
    def extended(rng: random.Random) -> Arguments:
        args, kwargs = recipe(rng)
        chosen = {k: rng.choice(v) for k, v in choices.items() if rng.random() < 0.7}
        return args, {**kwargs, **chosen}

    return extended


def with_arguments(recipe: Recipe, *choices: tuple[Any, ...]) -> Recipe:
    def extended(rng: random.Random) -> Arguments:
        args, kwargs = recipe(rng)
        return (*args, *(rng.choice(c) for c in choices)), kwargs

    return extended


def mostly(what: Callable[[random.Random], Any], otherwise: Callable[[random.Random], Any]) -> Any:
    return lambda rng: what(rng) if rng.random() < 0.85 else otherwise(rng)


def matrices(*layouts: str) -> Recipe:
    """Return tensors whose sizes are named by letters; rarely with another shape or dtype."""

    def recipe(rng: random.Random) -> Arguments:
        sizes = {c: rng.choice((0, 1, 2, 3, 5)) for c in "bnmkp"}
        dtype = rng.choice((*FLOATS, torch.int64, torch.complex64))

        def one(names: str) -> torch.Tensor:
            shape = None if rng.random() < 0.05 else tuple(sizes[c] for c in names)
            return tensor(rng, shape, dtype if rng.random() < 0.95 else None)

        return tuple(map(one, layouts)), {}

    return recipe


def along(*more: tuple[Any, ...]) -> Recipe:
    """Return a tensor and a dimension, sometimes one that it does not have."""

    def recipe(rng: random.Random) -> Arguments:
        self = tensor(rng)
        dim = rng.randrange(-max(self.dim(), 1), max(self.dim(), 1)) if rng.random() < 0.95 else 7
        return (self, dim, *(rng.choice(c) for c in more)), {}

    return recipe


def reduced(listed: bool, absent: bool = True, **choices: tuple[Any, ...]) -> Recipe:
    """Return a tensor, with no dimension, one or several, and keepdim."""

    def recipe(rng: random.Random) -> Arguments:
        (self, dim), _ = along()(rng)
        if absent and rng.random() < 0.3:
            dim = None if not listed or rng.random() < 0.5 else []
        elif listed:
            more = rng.sample(range(self.dim()), rng.randrange(self.dim() + 1))
            dim = [dim] if rng.random() < 0.5 else more
        args = (self, dim, rng.random() < 0.5)
        return args, {k: rng.choice(v) for k, v in choices.items() if rng.random() < 0.3}

    return recipe


def indexed(sources: int) -> Recipe:
    """Return self, dim, index and, for scatter, a source as large as the index; indices are seldom out of bounds."""

    def recipe(rng: random.Random) -> Arguments:
        self = tensor(rng, dtype=rng.choice(DTYPES), overlapping=False)
        dim = rng.randrange(-max(self.dim(), 1), max(self.dim(), 1))
        shape = tuple(
            rng.randrange(n + 1) if i != dim % max(self.dim(), 1) else n + 1
            for i, n in enumerate(self.shape)
        )
        if rng.random() < 0.05:
            shape = rng.choice(SHAPES)
        bound = self.shape[dim] if self.dim() else 1
        bound += rng.random() < 0.05
        # Each place once, because the order of writes is undefined.
        index = (
            torch.argsort(
                torch.rand(shape), dim=dim if self.dim() and len(shape) == self.dim() else 0
            )
            if shape and torch.Size(shape).numel()
            else torch.zeros(shape)
        )
        index = (index % max(bound, 1)).to(torch.int64 if rng.random() < 0.95 else torch.float32)
        if not sources:
            return (self, dim, index), {}
        dtype = self.dtype if rng.random() < 0.95 else None
        return (self, dim, index, tensor(rng, shape if rng.random() < 0.95 else None, dtype)), {}

    return recipe


def topk(rng: random.Random) -> Arguments:
    self = tensor(rng, dtype=rng.choice((*FLOATS, torch.int64)))
    dim = rng.randrange(-max(self.dim(), 1), max(self.dim(), 1))
    size = self.shape[dim] if self.dim() else 1
    return (
        self,
        rng.randrange(size + 1) if rng.random() < 0.95 else size + 1,
        dim,
        rng.random() < 0.5,
    ), {}


def listed(rng: random.Random) -> Arguments:
    """Return tensors for cat: with equal shapes except for one dimension, sometimes with an empty vector among them."""
    shape = rng.choice([s for s in SHAPES if s])
    dim = rng.randrange(-len(shape), len(shape))
    dtype = rng.choice(DTYPES)
    found = []
    for _ in range(rng.randrange(1, 4)):
        sizes = list(shape)
        sizes[dim] = rng.randrange(4)
        own = dtype if rng.random() < 0.7 else None
        found.append(tensor(rng, (0,) if rng.random() < 0.1 else tuple(sizes), own))
    if rng.random() < 0.03:
        found.append(tensor(rng))
    return (found if rng.random() < 0.98 else [], dim if rng.random() < 0.95 else 7), {}


def picture(dims: int) -> Callable[[random.Random], torch.Tensor]:
    def one(rng: random.Random) -> torch.Tensor:
        if rng.random() < 0.07:
            return tensor(rng)
        shape = (
            rng.choice((0, 1, 2)),
            rng.choice((1, 3)),
            *(rng.choice((1, 2, 5, 7)) for _ in range(dims)),
        )
        return tensor(rng, shape, rng.choice((*FLOATS, *FLOATS, torch.uint8, torch.bfloat16)))

    return one


def pooled(rng: random.Random) -> Arguments:
    self = picture(2)(rng)
    if self.dim() == 4 and rng.random() < 0.2:
        self = self[0] if self.shape[0] else self
    kernel = rng.choice(([2, 2], [3, 2], [1, 1], [3, 3], [2], [0, 1]))
    stride = rng.choice(([], [1], [2, 1], [3, 3]))
    padding = rng.choice(([0], [0, 1], [1, 1], [2, 2]))
    divisor = rng.choice((None, None, None, 3, 0))
    return (self, kernel, stride, padding, rng.random() < 0.5, rng.random() < 0.5, divisor), {}


def enlarged(dims: int) -> Recipe:
    def recipe(rng: random.Random) -> Arguments:
        sizes = [rng.choice((1, 2, 4, 9)) for _ in range(dims)]
        if rng.random() < 0.05:
            sizes = rng.choice(([0] * dims, [2] * (dims + 1)))
        scales = [rng.choice((None, 1.5, 2.0)) for _ in range(dims)]
        return (picture(dims)(rng), sizes, *scales), {}

    return recipe


def clamped(rng: random.Random) -> Arguments:
    (self, low, high), _ = operands(3)(rng)
    chance = rng.random()
    return (self, None if chance < 0.25 else low, None if 0.2 < chance < 0.45 else high), {}


UNARY, BINARY = operands(1), operands(2)
NUMBERS = (1, 2, 0.5, -1.5, True)
KINDS = (torch.float32, torch.float64, torch.int64, torch.complex64, torch.bool)

RECIPES: dict[str, Recipe] = {
    **{
        f"{name}.out": UNARY
        for name in [
            "neg",
            "sgn",
            "frac",
            "bitwise_not",
            "floor",
            "ceil",
            "trunc",
            "round",
            "sign",
            "exp",
            "log1p",
            "rsqrt",
            "sigmoid",
            "sin",
            "sqrt",
            "tanh",
            "reciprocal",
            "erf",
            "signbit",
            "isposinf",
            "silu",
            "mish",
            "hardsigmoid",
        ]
    },
    **{
        f"{name}.out": BINARY
        for name in (
            "mul",
            "div",
            "copysign",
            "atan2",
            "fmax",
            "hypot",
            "gcd",
            "nextafter",
            "maximum",
            "minimum",
        )
    },
    **{
        f"{name}.Tensor_out": BINARY
        for name in ("bitwise_and", "fmod", "remainder", "eq", "ne", "lt", "ge")
    },
    **{f"{name}_backward.grad_input": BINARY for name in ("sigmoid", "tanh", "silu")},
    "xlogy.OutTensor": BINARY,
    "pow.Tensor_Tensor_out": BINARY,
    "add.out": with_keywords(BINARY, alpha=NUMBERS),
    "sub.out": with_keywords(BINARY, alpha=NUMBERS),
    "div.out_mode": with_keywords(BINARY, rounding_mode=("trunc", "floor", "floor", "ceiling")),
    "gelu.out": with_keywords(UNARY, approximate=("none", "tanh", "tanh", "other")),
    "leaky_relu.out": with_arguments(UNARY, NUMBERS),
    "elu.out": with_arguments(UNARY, (1, 0.5, 2), (1, 0.5), (1, 2.0)),
    "addcmul.out": with_keywords(operands(3), value=NUMBERS),
    "clamp.Tensor_out": clamped,
    "sum.IntList_out": reduced(True, dtype=KINDS),
    "mean.out": reduced(True, dtype=KINDS),
    "prod.int_out": reduced(False, absent=False, dtype=KINDS),
    "amax.out": reduced(True, absent=False),
    "amin.out": reduced(True, absent=False),
    "argmax.out": reduced(False),
    "argmin.out": reduced(False),
    "max.dim_max": reduced(False, absent=False),
    "min.dim_min": reduced(False, absent=False),
    "any.out": reduced(False, absent=False),
    "all.out": reduced(False, absent=False),
    "cumsum.out": with_keywords(along(), dtype=KINDS),
    "cumprod.out": with_keywords(along(), dtype=KINDS),
    "mm.out": matrices("nm", "mk"),
    "bmm.out": matrices("bnm", "bmk"),
    "addmm.out": with_keywords(
        lambda rng: matrices(rng.choice(("nk", "nk", "k", "n", "kn")), "nm", "mk")(rng),
        beta=(0, 1, 2),
        alpha=(1, 3),
    ),
    "tril.out": with_arguments(UNARY, (0, 1, -1, 5)),
    "triu.out": with_arguments(UNARY, (0, 1, -1, 5)),
    "_softmax.out": along((False,)),
    "_log_softmax.out": along((False,)),
    "renorm.out": lambda rng: (
        (tensor(rng), rng.choice((1, 2, 0.5, 0)), rng.choice((0, 1, -1)), rng.choice((1, 2.5, -1))),
        {},
    ),
    "topk.values": topk,
    "gather.out": indexed(0),
    "scatter.src_out": indexed(1),
    "cat.out": listed,
    "avg_pool2d.out": pooled,
    "upsample_nearest1d.out": enlarged(1),
    "upsample_nearest2d.out": enlarged(2),
}
