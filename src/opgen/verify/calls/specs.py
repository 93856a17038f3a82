"""The arguments of a call as plain data: they can be sent to another process, shrunk and printed as a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from opgen.drawing.plans import product

Shape: TypeAlias = tuple[int, ...]

INTEGERS: tuple[str, ...] = ("uint8", "int8", "int16", "int32", "int64")
HALVES: tuple[str, ...] = ("float16", "bfloat16")
FLOATS: tuple[str, ...] = ("float32", "float64", *HALVES)
COMPLEX: tuple[str, ...] = ("complex64", "complex128")
ITEMSIZES: Mapping[str, int] = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}
DTYPES: tuple[str, ...] = tuple(ITEMSIZES)


class Fill(Struct, frozen=True):
    """Elements from `low` to `high`, by `seed`, and none within `gap` of the `points`. Those of seed 0 are in order."""

    seed: int = 0
    low: float = -2.0
    high: float = 2.0
    points: tuple[float, ...] = ()
    gap: float = 0.0
    whole: bool = False


class Layout(Struct, frozen=True):
    """Where elements lie: `strides` and `offset` count elements, and the storage has `count` of them.

    `alignment` is that of the storage's address in bytes; `place` is "inside" of a page, at its "head" or its "tail",
    with a page beyond it that cannot be read.
    """

    strides: Shape
    offset: int = 0
    count: int = 0
    alignment: int = 64
    place: str = "inside"


class TensorSpec(Struct, frozen=True, tag="tensor"):
    """A tensor. Elements are `values` in row-major order, or by `fill`; without a layout it is dense.

    With `rounded`, elements are rounded to that dtype before they are converted to `dtype`. `bit` is "conj" or "neg" for a tensor that is conjugated or negated lazily.
    """

    dtype: str
    shape: Shape
    fill: Fill = Fill()
    values: tuple[float | int | bool | tuple[float, float], ...] | None = None
    layout: Layout | None = None
    bit: str = ""
    rounded: str = ""

    @property
    def count(self) -> int:
        return product(self.shape)

    @property
    def itemsize(self) -> int:
        return ITEMSIZES[self.dtype]

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_complex(self) -> bool:
        return self.dtype in COMPLEX

    @property
    def is_differentiable(self) -> bool:
        return self.is_float or self.is_complex

    @property
    def is_integer(self) -> bool:
        return self.dtype in INTEGERS


class GeneratorSpec(Struct, frozen=True, tag="generator"):
    """A generator of random numbers with a seed."""

    seed: int


class Named(Struct, frozen=True, tag="named"):
    """A dtype, a device, a layout or a memory format, by the name that Python uses."""

    kind: str
    name: str


class Complex(Struct, frozen=True, tag="complex"):
    real: float
    imag: float


Value: TypeAlias = Any
Call: TypeAlias = dict[str, Value]
# Where a tensor is in a call: the argument, and its place in a list or None.
Place: TypeAlias = tuple[str, int | None]


def places(call: Mapping[str, Value]) -> Iterator[Place]:
    """Yield where the tensors of a call are."""
    for name, value in call.items():
        if isinstance(value, TensorSpec):
            yield name, None
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if isinstance(item, TensorSpec):
                    yield name, index


def tensors(call: Mapping[str, Value]) -> list[TensorSpec]:
    """Return the tensors of a call."""
    return [at(call, place) for place in places(call)]


def at(call: Mapping[str, Value], place: Place) -> Any:
    """Return the value at a place."""
    name, index = place
    return call[name] if index is None else call[name][index]


def put(call: Mapping[str, Value], place: Place, value: Value) -> Call:
    """Return the call with another value at a place."""
    name, index = place
    changed = dict(call)
    if index is None:
        changed[name] = value
    else:
        items = list(changed[name])
        items[index] = value
        changed[name] = items
    return changed


def each_tensor(call: Mapping[str, Value], change: Callable[[TensorSpec], TensorSpec]) -> Call:
    """Return the call with every tensor changed."""
    changed: Call = dict(call)
    for place in places(call):
        changed = put(changed, place, change(at(call, place)))
    return changed


def dense(call: Mapping[str, Value]) -> Call:
    """Return the call with dense tensors."""
    return each_tensor(call, lambda spec: replace(spec, layout=None, bit=""))


def contiguous_strides(shape: Shape) -> Shape:
    """Return row-major strides, in elements. A size of 0 counts as 1."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
