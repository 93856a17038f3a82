"""Draw calls as plain data: the words of plans, and the values that they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod as product
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import Struct

from opgen.gradtest.drawing import RANKS, SHAPES, Choices, Drawer, Making, Plan
from opgen.model.domains import Between, Domain
from opgen.model.function_schema import Argument
from opgen.model.types import BaseTy, BaseType
from opgen.verify.calls.specs import (
    COMPLEX,
    DTYPES,
    FLOATS,
    Call,
    Fill,
    GeneratorSpec,
    Named,
    TensorSpec,
)

# What follows these words describes the refused call, or is advice.
_REST = re.compile(r"\b(but|got|while|instead|Could)\b")
_WANTED = re.compile(
    r"\b(must|should|expect|expects|expected|supports?|needs?|requires?)\b", re.IGNORECASE
)
_SHAPE = re.compile(r"[\[(]\s*([\w ]+(?:,\s*[\w ]+)*),?\s*[\])]")
_RANK = re.compile(
    r"\b(\d)\s*-?\s*d(?:im(?:s|ensions?|ensional)?)?\b|\b(?:ndimension|dim)\(\) == (\d)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\b(\d+) elements in dimension (\d)")
_RANGE = re.compile(
    r"Dimension out of range \(expected to be in range of \[-(\d+), \d+\], but got (\d+)\)"
)
_DTYPE = re.compile(rf"\b({'|'.join(DTYPES)})\b")
_SAME = re.compile(r"\bsame (?:d?type|scalar type)\b")
_NOT_NEGATIVE = re.compile(
    r"non-negative|negative dimension|\bnegative\b|greater than or equal to 0"
)
_MARKS = "abcdefgh"


class Requirements(Struct):
    """What an operator said about its tensors, by the names of arguments.

    `shapes` are sizes: numbers, or words that stand for the same size everywhere. `dtypes` are names of dtypes, or "main"
    for that of the call. With `no_negatives`, some integer must not be negative.
    """

    shapes: dict[str, tuple[str, ...]] = {}
    dtypes: dict[str, tuple[str, ...]] = {}
    no_negatives: bool = False

    def hear(self, message: str, call: Call, arguments: Sequence[str]) -> None:
        """Take what one refusal says. `arguments` are the names of those that are tensors."""
        text = message[: found.start()] if (found := _REST.search(message)) else message
        if _NOT_NEGATIVE.search(text):
            self.no_negatives = True
        named = [name for name in arguments if re.search(rf"\b{name}(?:_[a-z])?\b", text)]
        if _SAME.search(text):
            self.dtypes.update(dict.fromkeys(named, ("main",)))
        elif outside := _RANGE.search(message):
            # The kernel asks for the size of a dimension that some tensor lacks.
            rank, wanted = int(outside[1]), int(outside[2]) + 1
            self._want_rank(_first(call, arguments, lambda spec: len(spec.shape) == rank), wanted)
        elif dtypes := tuple(_DTYPE.findall(text)):
            self.dtypes.update(dict.fromkeys(named, dtypes))
        elif size := _SIZE.search(text):
            self._want_size(named, call, arguments, int(size[2]), size[1])
        elif named and _WANTED.search(text) and (shape := _SHAPE.search(text)):
            words = tuple("_".join(word.split()) for word in shape[1].split(","))
            self.shapes.update(dict.fromkeys(named[:1], words))
        elif rank_ := _RANK.search(text):
            rank = int(rank_[1] or rank_[2])
            other = _first(call, named or arguments, lambda spec: len(spec.shape) != rank)
            self._want_rank(other, rank)

    def _want_rank(self, name: str | None, rank: int) -> None:
        if name is not None and rank <= len(_MARKS):
            known = self.shapes.get(name, ())
            self.shapes[name] = (*known, *_MARKS)[:rank] if len(known) != rank else known

    def _want_size(
        self, named: Sequence[str], call: Call, arguments: Sequence[str], dim: int, size: str
    ) -> None:
        def lacks(spec: TensorSpec) -> bool:
            return len(spec.shape) > dim and spec.shape[dim] != int(size)

        name = _first(call, named or arguments, lacks)
        if name is not None and dim < len(_MARKS):
            known = list(self.shapes.get(name, ()))
            known += _MARKS[len(known) : dim + 1]
            known[dim] = size
            self.shapes[name] = tuple(known)


def _first(call: Mapping[str, Any], names: Sequence[str], fits: Any) -> str | None:
    """Return the first tensor argument that fits: kernels check their arguments in order."""
    for name in names:
        value = call.get(name)
        if isinstance(value, TensorSpec) and fits(value):
            return name
    return None


# The dtypes of calls, the frequent ones several times.
_MAIN = (
    *("float32",) * 5,
    *("float64", "float64", "int64", "int64"),
    *("bool", "complex64", "float16", "bfloat16", "int32", "uint8", "complex128", "int8"),
)
# A tensor has the main dtype of its call, or a dtype of its own.
_DTYPES = (*("main",) * 10, *("int64",) * 3, "bool", "int32", "float32", "uint8")
_KINDS = ("any", "any", "any", "positive", "small", "unit")
_RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"any": (-2.0, 2.0), "positive": (0.25, 3.0), "unit": (0.05, 0.95), "small": (0.0, 2.0)}
)
# Sizes of tensors: small ones, odd ones, and such that fill no whole vector.
_SIZES = (1, 2, 3, 3, 4, 5, 5, 7, 9)
_MOST_ELEMENTS = 240
_STRINGS = (
    *("mean", "sum", "none", "nearest", "linear", "bilinear", "bicubic", "constant", "reflect"),
    *("replicate", "trunc", "floor", "tanh", "auto", "ij", "xy", "reduce", "amax", "prod"),
    *("left", "right", "fro", "exact", "max", "min"),
)
_OTHERS: Mapping[BaseTy, tuple[str, ...]] = MappingProxyType(
    {
        BaseTy.Generator: ("none", "seed", "seed"),
        BaseTy.ScalarType: ("float32", "float64", "int64", "float32", "bool", "complex64", "main"),
        BaseTy.Device: ("cpu",),
        BaseTy.Layout: ("strided",),
        BaseTy.MemoryFormat: ("contiguous_format", "preserve_format", "channels_last"),
        BaseTy.str: _STRINGS,
        BaseTy.complex: ("complex",),
    }
)


_NAMED = {
    BaseTy.Device: "device",
    BaseTy.Layout: "layout",
    BaseTy.MemoryFormat: "memory_format",
}
# Shapes whose letters stand for the same size in all tensors of a call: products of matrices, batches, tables.
_LETTERS = (
    *("a b", "a b", "b c", "b c", "a c", "a", "b", "c"),
    *("a b c", "a c d", "a c", "b c d", "a b d"),
    *("a b c d", "b", "a b c d", "d b c d"),
)
# In so many calls, all tensors have the main dtype, except indices.
_UNIFORM = 0.6


class SpecDraw(Making):
    """Draws the arguments of one call as plain data.

    `tensor` and `integers` return NumPy arrays, which authors can change; arrays of floats have the dtype of the call in the end.
    """

    def __init__(
        self, choices: Choices, dtype: str, seed: int, rank: int | None, domain: Domain
    ) -> None:
        super().__init__(choices)
        self.dtype = dtype
        self._seed = seed
        self._count = 0
        self._sizes: dict[str, int] = {}
        self._domain = domain
        rank = choices.choice(RANKS) if rank is None else rank
        base: tuple[int, ...] = ()
        for _ in range(rank):
            sizes = [s for s in _SIZES if s * product(base) <= _MOST_ELEMENTS]
            base += (choices.choice(sizes or [1]),)
        self.base = base

    # What authors call.

    def tensor(
        self, *shape: int, dtype: str | None = None, low: float = -2.0, high: float = 2.0
    ) -> Any:
        """Return an array with elements from `low` to `high`, of the dtype of the call or another."""
        generator = np.random.default_rng(self._next_seed())
        if dtype in (None, *FLOATS):
            found = generator.uniform(low, high, shape).view(Elements)
            found.kind = dtype or self.dtype
            return found
        if dtype == "bool":
            return generator.random(shape) < 0.5
        return generator.integers(int(low), int(high) + 1, shape).astype(dtype)

    def integers(self, *shape: int, below: int, low: int = 0) -> Any:
        """Return an array of integers from `low` to `below` - 1: indices."""
        numbers = np.random.default_rng(self._next_seed())
        return numbers.integers(low, max(below, low + 1), shape)

    # What drawers call.

    def size(self, letter: str) -> int:
        """Return the size that a letter stands for in this call. A number stands for itself."""
        if letter not in self._sizes:
            is_number = letter.isdigit()
            self._sizes[letter] = int(letter) if is_number else self.choices.choice(_SIZES)
        return self._sizes[letter]

    def tensor_of(
        self, shape: tuple[int, ...], words: Sequence[str], values: Between | None
    ) -> TensorSpec:
        dtype = self.dtype if words[0] == "main" else words[0]
        low, high = _RANGES[words[1]]
        fill = Fill(self._next_seed(), low, high, (0.0,) if low < 0 < high else (), 0.05)
        if values is not None:
            fill = Fill(fill.seed, values.low, values.high, values.points, values.gap)
        elif dtype not in FLOATS and dtype not in COMPLEX:
            low, high = {"any": (-3, 4), "unit": (0, 1)}.get(words[1], (0, 2))
            fill = Fill(fill.seed, low, high)
        return TensorSpec(dtype, shape, fill)

    def other(self, type: BaseType, words: Sequence[str]) -> Any:
        (word,) = words
        if type.name is BaseTy.Generator:
            return None if word == "none" else GeneratorSpec(self.choices.integer(1, 99))
        if type.name is BaseTy.ScalarType:
            return Named("dtype", self.dtype if word == "main" else word)
        if type.name in _NAMED:
            return Named(_NAMED[type.name], word)
        return self.choices.number(-2, 2) if type.name is BaseTy.complex else word

    def _next_seed(self) -> int:
        self._count += 1
        return 0 if self._seed == 0 and self._count == 1 else self._seed * 101 + self._count


class Elements(np.ndarray[Any, Any]):
    """Floats for a tensor of a dtype that NumPy may not have."""

    kind: str = ""

    def __array_finalize__(self, source: Any) -> None:
        self.kind = getattr(source, "kind", "")


def spec_of(value: Any) -> Any:
    """Return plain data for what an author returns: arrays become tensors."""
    if isinstance(value, np.ndarray):
        dtype = getattr(value, "kind", "") or str(value.dtype)
        flat = value.ravel().tolist()
        numbers = tuple((v.real, v.imag) if isinstance(v, complex) else v for v in flat)
        return TensorSpec(dtype, tuple(value.shape), values=numbers)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [spec_of(item) for item in value]
    return value


class CallDrawer(Drawer):
    """Draws calls of one operator as plain data."""

    shapes = (*SHAPES, *_LETTERS)
    ints: tuple[str, ...] = ("small", "small", "one", "dimension", "size", "negative")
    numbers = ("positive", "positive", "any", "integer")
    lists = ("sizes", "dimensions", "small", "ones", "base", "base")
    others = _OTHERS
    # Whether all tensors have the main dtype, and what refusals ask for.
    _uniform = False
    _required_dtypes: Mapping[str, Sequence[str]] = MappingProxyType({})

    def follow(self, requirements: Requirements) -> None:
        """Draw what refusals ask for."""
        self._required_dtypes = requirements.dtypes
        self.wanted = {name: " ".join(words) for name, words in requirements.shapes.items()}
        every = type(self).ints
        self.ints = tuple(w for w in every if w != "negative" or not requirements.no_negatives)

    def tensor_words(self, argument: Argument) -> tuple[str, ...]:
        name, choices = argument.name, self.choices
        dtypes: tuple[str, ...] = _DTYPES
        if wanted := self._required_dtypes.get(name):
            return (choices.choice(wanted), choices.choice(_KINDS))
        if "index" in name or name.startswith("indices"):
            dtypes = ("int64", "int64", "int64", "main", "int32", "bool")
        elif self._uniform:
            dtypes = ("main",)
        return (choices.choice(dtypes), choices.choice(_KINDS))

    def begin(self, plan: Plan) -> SpecDraw:
        dtypes = self.domain.dtypes or _MAIN
        # The dtype is part of a plan, under a name that no argument has.
        dtype = plan["*"][0] if "*" in plan else self.choices.choice(dtypes)
        plan["*"] = (dtype,)
        self._uniform = self.choices.chance(_UNIFORM)
        seed = self.choices.integer(0, 999)
        rank = len(plan[""]) if "" in plan else None
        self._draw = SpecDraw(self.choices, dtype, seed, rank, self.domain)
        return self._draw

    def draw(self, *, only_known: bool = False) -> tuple[Call, Plan]:
        """Return a call and its plan."""
        call, plan = super().draw(only_known=only_known)
        draw = self._draw
        call = {name: spec_of(value) for name, value in call.items()}
        for name, sizes in self.domain.shapes.items():
            if name in call:
                shape = tuple(s if isinstance(s, int) else draw.size(s) for s in sizes)
                call[name] = _reshaped(call[name], shape)
        return call, plan


def _reshaped(value: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(value, list):
        return [_reshaped(item, shape) for item in value]
    if isinstance(value, TensorSpec):
        return TensorSpec(value.dtype, shape, value.fill)
    return value
