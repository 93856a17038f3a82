"""Draw one input of one operator from a seed: shapes, layouts, element values and all other arguments.

The type and name of an argument determine what it may be; `constraints` holds the few rules that the schema does not
express (shapes that fit, valid indices, ranges). Arguments are drawn when another one needs them, so a constraint may
use any of them in any order.
"""

from __future__ import annotations

import functools
import random
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from differential.numerics import values as v
from differential.numerics.values import Dtype, TensorValue, Value, contiguous_strides, elements
from opgen.model.function_schema import Argument, FunctionSchema, SchemaKind
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType

Shape = tuple[int, ...]

_POOL = 4096
_LARGEST = 2048


class Refused(Exception):
    """This seed gives no input; try another one."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """Rules that the schema does not express, by "operator:argument" or ":argument"; see constraints.py."""

    arguments: Mapping[str, Callable[[Draw], Value]]
    shapes: Mapping[str, Sequence[Mapping[str, str]]]
    ranks: Mapping[str, tuple[int, int]]
    dtypes: Mapping[str, str]
    domains: Mapping[str, str]
    dense: frozenset[str]


class Draw:
    """The arguments of `schema` for one dtype and seed, or from a source of random numbers; `draw["dim"]` is drawn
    when it is first used.
    """

    def __init__(
        self,
        schema: FunctionSchema,
        dtype: Dtype,
        seed: int,
        constraints: Constraints,
        source: random.Random | None = None,
    ) -> None:
        self.schema = schema
        self.dtype = dtype
        self.constraints = constraints
        self.operator = operator_base(schema)
        self.name = str(schema.name)
        self.functional_name = functional_name(schema)
        text = f"{schema.name}|{dtype.name}|{seed}"
        self.random = source or random.Random(zlib.crc32(text.encode()) * 1_000_003 + seed)
        self.drawn: dict[str, Value] = {}
        self._arguments = {argument.name: argument for argument in schema.arguments.flat_non_out}
        self._shape: Shape | None = None
        self._letters: dict[str, Shape] = {}
        rows = self._find(constraints.shapes, "")
        self.pattern: Mapping[str, str] = self.random.choice(rows) if rows else {}
        # In some of the cases, the second tensor has another dtype than the first.
        self.mixed = self.random.random() < 0.25
        self.special = self.random.random() < 0.15
        self.inplace = schema.kind() == SchemaKind.inplace

    def all(self) -> dict[str, Value]:
        """Draw every argument except the out ones; those with a default are sometimes left out."""
        given = {}
        for name, argument in self._arguments.items():
            if not self._may_omit(argument) or self.random.random() < 0.9:
                given[name] = self[name]
        return given

    def _may_omit(self, argument: Argument) -> bool:
        if argument.default is None or argument.name in self.drawn:
            return False
        # Without a dtype, a factory makes another one than the tested dtype.
        factory = argument.name == "dtype" and self.schema.arguments.tensor_options is not None
        return not factory or self.dtype is v.FLOAT32

    def __getitem__(self, name: str) -> Value:
        if name not in self.drawn:
            argument = self._arguments[name]
            rule = self._find(
                self.constraints.arguments, name, _base(argument.type) is not BaseTy.Tensor
            )
            self.drawn[name] = rule(self) if rule else self._by_type(argument, argument.type)
        return self.drawn[name]

    def get(self, name: str) -> Value:
        """Return draw[name], or None if the operator has no such argument."""
        return self[name] if name in self._arguments else None

    # Used in the expressions of constraints.

    def below(self, end: int) -> int:
        return int(self.random.random() * end)

    def between(self, first: int, last: int) -> int:
        """Return an integer from `first` to `last`, both included."""
        return first + self.below(last - first + 1)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, *choices: Value) -> Value:
        return choices[self.below(len(choices))]

    def tensor(self, name: str = "self") -> TensorValue:
        found = self[name]
        assert isinstance(found, TensorValue)
        return found

    def size(self, dim: str = "dim", tensor: str = "self") -> int:
        """Return the size of a tensor along the dimension in argument `dim`; 1 for a tensor without dimensions."""
        sizes = self.tensor(tensor).sizes
        return sizes[self[dim]] if sizes else 1

    def dim(self, tensor: str | None = None) -> int:
        """Return a dimension of `tensor` (default: of the first one), counted from either end."""
        rank = max(1, len(self.first_sizes() if tensor is None else self.tensor(tensor).sizes))
        return self.between(-rank, rank - 1)

    def dims(self, least: int = 0) -> tuple[int, ...]:
        """Return distinct dimensions of the first tensor in any order, counted from either end."""
        rank = len(self.first_sizes())
        if rank < least:
            raise Refused
        every = list(range(rank))
        self.random.shuffle(every)
        chosen = every[: self.between(least, rank)] if rank else []
        return tuple(d - rank if self.chance(0.3) else d for d in chosen)

    def first_sizes(self) -> Shape:
        """Return the shape of the first tensor (the first of the first list)."""
        for name, argument in self._arguments.items():
            if _base(argument.type) is BaseTy.Tensor:
                value = self[name]
                if isinstance(value, tuple):
                    value = next((item for item in value if item is not None), None)
                if isinstance(value, TensorValue):
                    return value.sizes
        return self.shape()

    def shape(self, least: int | None = None, most: int | None = None) -> Shape:
        """Return a new shape: any rank from 0 to 4, also with sizes of 0 and 1, and about 64 elements."""
        low, high = self._find(self.constraints.ranks, "") or (0, 4)
        low, high = low if least is None else least, high if most is None else most
        rank = min(high, max(low, self.choose(0, 1, 1, 2, 2, 2, 3, 3, 4)))
        if rank and self.chance(0.05):
            # Long enough for vectorised loops and their remainders.
            return (*([1] * (rank - 1)), self.between(33, 200))
        sizes: list[int] = []
        total = 1
        for _ in range(rank):
            size = self.choose(1, 2, 2, 3, 3, 4, 5, 7)
            size = 1 if total * size > 72 else size
            total *= size
            sizes.append(size)
        if rank and self.chance(0.06):
            sizes[self.below(rank)] = 0
        self.random.shuffle(sizes)
        return tuple(sizes)

    def common_shape(self) -> Shape:
        """The shape that all tensors of a pointwise call broadcast to."""
        if self._shape is None:
            self._shape = self.shape()
        return self._shape

    def broadcast(self, shape: Shape) -> Shape:
        """Return a shape that broadcasts to `shape`: leading dimensions dropped, others made 1."""
        if self.chance(0.5):
            return shape
        kept = shape[self.below(len(shape) + 1) :] if self.chance(0.5) else shape
        return tuple(1 if self.chance(0.3) else size for size in kept)

    def letters(self, pattern: str) -> Shape:
        """Return sizes for letters: "ij" two dimensions, "*" any batch, "~" in front: may broadcast to the rest.

        One letter has the same size in all tensors of a call; capital letters are never empty.
        """
        loose = pattern.startswith("~")
        sizes: list[int] = []
        for letter in pattern.lstrip("~"):
            if letter not in self._letters:
                size = self.choose(1, 1, 2, 3, 4, 5) if not self.chance(0.05) else 0
                if letter == "*":
                    self._letters[letter] = self.choose((), (), (2,), (3,), (1, 2), (2, 2), (0,))
                elif letter == "1":
                    self._letters[letter] = (1,)
                else:
                    self._letters[letter] = (max(1, size) if letter.isupper() else size,)
            sizes.extend(self._letters[letter])
        return self.broadcast(tuple(sizes)) if loose else tuple(sizes)

    def make(
        self,
        sizes: Iterable[int],
        dtype: Dtype | None = None,
        domain: str = "any",
        *,
        dense: bool = False,
    ) -> TensorValue:
        """Return a tensor of these sizes with any layout; `dense`: no two elements share memory."""
        sizes = tuple(sizes)
        if elements(sizes) > _LARGEST:
            raise Refused
        strides, offset, extent = self._lay_out(sizes, dense or domain == "distinct")
        return TensorValue(
            dtype or self.dtype, sizes, strides, offset, self._fill(dtype, domain, extent)
        )

    def integers(
        self, sizes: Iterable[int], end: int, *, first: int = 0, dtype: str = "int64"
    ) -> TensorValue:
        """A tensor of integers from `first` to `end`, `end` not included."""
        sizes = tuple(sizes)
        if end <= first and elements(sizes):
            raise Refused
        strides, offset, extent = self._lay_out(sizes, False)
        drawn = [self.between(first, end - 1) if end > first else 0 for _ in range(extent)]
        made = v.BY_NAME[dtype]
        return TensorValue(made, sizes, strides, offset, np.array(drawn, made.carrier).tobytes())

    def holding(self, array: Any, dtype: str) -> TensorValue:
        """Return a contiguous tensor with exactly these elements."""
        made = v.BY_NAME[dtype]
        data = np.ascontiguousarray(array, made.carrier)
        sizes = np.shape(array)
        return TensorValue(made, sizes, contiguous_strides(sizes), 0, data.tobytes())

    def holding_same(self, tensor: TensorValue) -> TensorValue:
        """Return a contiguous tensor with the elements of another one."""
        data = np.ndarray(
            tensor.sizes,
            tensor.dtype.carrier,
            tensor.storage or bytes(16),
            tensor.offset * tensor.dtype.itemsize,
            [stride * tensor.dtype.itemsize for stride in tensor.strides],
        )
        strides = contiguous_strides(tensor.sizes)
        return TensorValue(tensor.dtype, tensor.sizes, strides, 0, data.tobytes())

    def scalar(self) -> Value:
        """Return a number: in most cases of the dtype's kind, sometimes of another."""
        if self.chance(0.12):
            return self.choose(True, 2, -1.5, 3)
        match self.dtype.kind:
            case "bool":
                return self.choose(True, False, 1)
            case "int":
                low = 0 if self.dtype.name == "uint8" else -5
                return self.between(low, 5)
            case "complex":
                return self.choose(complex(self.between(-3, 3), 1.5), 0.5, self.between(-3, 3))
            case _:
                # Eighths: every dtype can represent them, so the place of rounding does not matter.
                return self.choose(self.between(-32, 32) / 8, self.between(-4, 4), 0.5)

    # By type.

    def _find(self, table: Mapping[str, Any], argument: str, everywhere: bool = True) -> Any:
        """Return the row for an argument of this overload, of this operator or, if `everywhere`, of any operator."""
        base = str(self.schema.name.name)
        keys = (self.name, self.functional_name, base, self.operator, "")[
            : 5 if argument and everywhere else 4
        ]
        for key in keys:
            found = table.get(f"{key}:{argument}" if argument else key)
            if found is not None:
                return found
        return None

    def _by_type(self, argument: Argument, type_: Any) -> Value:
        match type_:
            case OptionalType(inner):
                return None if self.chance(0.4) else self._by_type(argument, inner)
            case ListType(elem, size):
                count = size or self.between(1, 3)
                if _base(elem) is BaseTy.Tensor:
                    shape = self.common_shape()
                    return tuple(self._tensor(argument, shape) for _ in range(count))
                return tuple(self._by_type(argument, elem) for _ in range(count))
            case BaseType(name):
                return self._by_base_type(argument, name)
            case _:
                raise TypeError(f"{self.name}: {argument} has a type without a generator")

    def _by_base_type(self, argument: Argument, name: BaseTy) -> Value:
        match name:
            case BaseTy.Tensor:
                return self._tensor(argument, self._shape_of(argument))
            case BaseTy.Scalar:
                return self.scalar()
            case BaseTy.bool:
                return self.chance(0.5)
            case BaseTy.int | BaseTy.SymInt:
                return self.between(0, 4)
            case BaseTy.float:
                return round(self.random.uniform(-2, 2), 3)
            case BaseTy.ScalarType:
                return self.choose(*v.DTYPES)
            case BaseTy.Layout:
                return v.Layout()
            case BaseTy.Device:
                return v.Device("cpu")
            case BaseTy.MemoryFormat:
                return self._memory_format()
            case BaseTy.Generator:
                return v.GeneratorValue(self.below(1000))
            case _:
                raise TypeError(f"{self.name}: {argument} has a type without a generator")

    def _memory_format(self) -> v.MemoryFormat:
        rank = len(self.get("size") if "size" in self._arguments else self.first_sizes())
        choices = [v.CONTIGUOUS_FORMAT]
        choices += [v.PRESERVE_FORMAT] if "self" in self._arguments else []
        choices += {4: [v.CHANNELS_LAST] * 2, 5: [v.CHANNELS_LAST_3D]}.get(rank, [])
        return self.random.choice(choices)

    def _shape_of(self, argument: Argument) -> Shape:
        pattern = self.pattern.get(argument.name)
        if pattern is not None:
            return self.letters(pattern.lstrip("~") if argument.is_write else pattern)
        whole = argument.is_write or (
            next(iter(self._arguments)) == argument.name and not self.pattern
        )
        tensors = [a for a in self._arguments.values() if _base(a.type) is BaseTy.Tensor]
        if argument.is_write or len(tensors) == 1:
            return self.common_shape()
        return (
            self.common_shape()
            if whole and self.chance(0.5)
            else self.broadcast(self.common_shape())
        )

    def _tensor(self, argument: Argument, sizes: Shape) -> TensorValue:
        named = self._find(self.constraints.dtypes, argument.name)
        dtype = v.BY_NAME[named] if named else self.dtype
        first = next(iter(self._arguments)) == argument.name
        if named is None and self.mixed and not first and not argument.is_write:
            mix = self._find(self.constraints.dtypes, "")
            if mix is None:
                dtype = self.choose(*v.DTYPES)
        domain = self._find(self.constraints.domains, argument.name) or "any"
        dense = self.operator in self.constraints.dense or (
            argument.is_write and not self.chance(0.02)
        )
        return self.make(sizes, dtype, domain, dense=dense)

    # Memory.

    def _fill(self, dtype: Dtype | None, domain: str, count: int) -> bytes:
        dtype = dtype or self.dtype
        if domain == "any" and self.special and dtype.kind == "float":
            domain = "special"
        pool = _pool(dtype.name, domain)
        size = len(pool) // dtype.itemsize
        if count > size:
            if domain == "distinct":
                raise Refused
            return (pool * (count // size + 1))[: count * dtype.itemsize]
        start = self.below(size - count + 1) * dtype.itemsize
        return pool[start : start + count * dtype.itemsize]

    def _lay_out(self, sizes: Shape, dense: bool) -> tuple[Shape, int, int]:
        """Return strides, offset, and the number of elements of the storage."""
        rank, chosen = len(sizes), self.random.random()
        if rank == 0 or chosen < 0.35:
            offset = self.between(0, 3) if chosen < 0.05 else 0
            return contiguous_strides(sizes), offset, elements(sizes) + offset
        order = list(range(rank))
        gap = 1
        if rank == 4 and chosen < 0.5:
            order = [0, 2, 3, 1]
        elif chosen < 0.65:
            self.random.shuffle(order)
        elif chosen < 0.8:
            gap = 2
        elif chosen < 0.9:
            self.random.shuffle(order)
            gap = 3
        elif not dense:
            return self._expanded(sizes)
        strides, step = [0] * rank, gap
        if chosen >= 0.75 and chosen < 0.8:
            step = 1  # Rows of a larger matrix.
        for d in reversed(order):
            strides[d] = step
            step *= max(1, sizes[d])
            if chosen >= 0.75 and chosen < 0.8:
                step += self.between(0, 2)
        offset = self.between(0, 4) if self.chance(0.4) else 0
        if 0 in sizes:
            return tuple(strides), offset, offset
        extent = offset + 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        return tuple(strides), offset, extent

    def _expanded(self, sizes: Shape) -> tuple[Shape, int, int]:
        strides, step = [0] * len(sizes), 1
        for d in reversed(range(len(sizes))):
            if sizes[d] != 1 and self.chance(0.5):
                continue
            strides[d] = step
            step *= max(1, sizes[d])
        return tuple(strides), 0, step


def operator_base(schema: FunctionSchema) -> str:
    """Return the name under which constraints know an operator: without overload and the `_` of in-place."""
    name = schema.name.name
    return f"__{name.base}__" if name.dunder_method else name.base


def functional_name(schema: FunctionSchema) -> str:
    """Return the name under which constraints know an overload: "fill.Tensor" for "fill_.Tensor" and
    "fill.Tensor_out".
    """
    overload = schema.name.overload_name
    if schema.kind() == SchemaKind.out:
        overload = overload.removesuffix("out").removesuffix("_")
    return f"{operator_base(schema)}.{overload}" if overload else operator_base(schema)


def _base(type_: Any) -> BaseTy | None:
    while isinstance(type_, OptionalType | ListType):
        type_ = type_.elem
    return type_.name if isinstance(type_, BaseType) else None


@functools.cache
def _pool(dtype_name: str, domain: str) -> bytes:
    """Return elements from which runs are taken: the same ones in every process."""
    dtype = v.BY_NAME[dtype_name]
    random_ = np.random.default_rng(zlib.crc32(f"{dtype_name}|{domain}".encode()))
    return bytes(v.from_numbers(dtype, _numbers(dtype, domain, random_)).tobytes())


def _numbers(dtype: Dtype, domain: str, random_: np.random.Generator) -> v.Array:
    if domain == "distinct":
        count = {"bool": 2, "uint8": 256, "int8": 256, "float16": 1024, "bfloat16": 128}.get(
            dtype.name, 1024
        )
        first = 0 if dtype.name in ("bool", "uint8") else -count // 2
        numbers = random_.permutation(np.arange(first, first + count))
        return numbers if dtype.kind in ("bool", "int") else numbers * 0.5
    if dtype.kind == "bool":
        return random_.random(_POOL) < 0.6
    if dtype.kind == "int":
        if domain == "small":
            return random_.choice([-1, 1, 1, 2], _POOL, p=[0.2, 0.4, 0.3, 0.1])
        low = 1 if domain == "positive" else 0 if dtype.name == "uint8" or domain == "unit" else -9
        high = 2 if domain == "unit" else 10
        return random_.integers(low, high, _POOL)
    if dtype.kind == "complex":
        return _reals(domain, random_) + 1j * _reals(domain, random_)
    return _reals(domain, random_)


def _reals(domain: str, random_: np.random.Generator) -> v.Array:
    if domain == "unit":
        return random_.random(_POOL)
    if domain == "small":
        return random_.choice([-1, 1, 0.5, 2], _POOL)
    if domain == "positive":
        return random_.uniform(0.1, 6, _POOL)
    # Halves and whole numbers are included, for ties in rounding, comparing and sorting.
    numbers = np.where(
        random_.random(_POOL) < 0.4,
        random_.integers(-8, 9, _POOL) / 2,
        random_.normal(0, 2, _POOL),
    )
    if domain == "special":
        odd = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-30, -1e-30, 1000.0])
        numbers = np.where(random_.random(_POOL) < 0.25, random_.choice(odd, _POOL), numbers)
    return numbers
