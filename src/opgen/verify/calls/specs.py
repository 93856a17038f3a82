"""Calls as values: tensors with their elements and layouts, numbers, generators, and what indices they hold."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod as product
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from opgen.gradtest.calls import Place as Place
from opgen.gradtest.calls import at as at
from opgen.gradtest.calls import each, places_in

Shape: TypeAlias = tuple[int, ...]

INTEGERS: tuple[str, ...] = ("uint8", "int8", "int16", "int32", "int64")
HALVES: tuple[str, ...] = ("float16", "bfloat16")
FLOATS: tuple[str, ...] = ("float32", "float64", *HALVES)
COMPLEX: tuple[str, ...] = ("complex64", "complex128")
DTYPES: tuple[str, ...] = ("bool", *INTEGERS, *HALVES, "float32", "float64", *COMPLEX)
ITEMSIZES: Mapping[str, int] = {
    name: 2 if name == "bfloat16" else np.dtype(name).itemsize for name in DTYPES
}


class Fill(Struct, frozen=True, repr_omit_defaults=True):
    """Elements from `low` to `high`, by `seed`, and none within `gap` of the `points`. Those of seed 0 are in order."""

    seed: int = 0
    low: float = -2.0
    high: float = 2.0
    points: tuple[float, ...] = ()
    gap: float = 0.0
    whole: bool = False


class Layout(Struct, frozen=True, repr_omit_defaults=True):
    """Where elements lie: `strides` and `offset` count elements, and the storage has `count` of them.

    `alignment` is that of the storage's address in bytes; `place` is "inside" of a page, at its "head" or its "tail",
    with a page beyond it that cannot be read. What is "far" has bytes between its elements that are not marked.
    """

    strides: Shape
    offset: int = 0
    count: int = 0
    alignment: int = 64
    place: str = "inside"


class TensorSpec(Struct, frozen=True, tag="tensor", repr_omit_defaults=True):
    """A tensor. Elements are `values` in row-major order, or by `fill`; without a layout it is dense.

    With `rounded`, elements are rounded to that dtype before they are converted to `dtype`; along the dimensions `flipped`,
    they are in the opposite order. `bit` is "conj" or "neg" for a tensor that is conjugated or negated lazily.
    """

    dtype: str
    shape: Shape
    fill: Fill = Fill()
    values: tuple[float | int | bool | tuple[float, float], ...] | None = None
    layout: Layout | None = None
    bit: str = ""
    rounded: str = ""
    flipped: tuple[int, ...] = ()

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


def flat(values: Iterable[Value]) -> Iterator[Value]:
    """Yield values, those of lists one by one."""
    for value in values:
        yield from value if isinstance(value, list | tuple) else [value]


def places(call: Mapping[str, Value]) -> Iterator[Place]:
    """Yield where the tensors of a call are."""
    for name, value in call.items():
        for place, item in places_in(name, value):
            if isinstance(item, TensorSpec):
                yield place


def tensors(call: Mapping[str, Value]) -> list[TensorSpec]:
    """Return the tensors of a call."""
    return [value for value in flat(call.values()) if isinstance(value, TensorSpec)]


def put(call: Mapping[str, Value], place: Place, value: Value) -> Call:
    """Return the call with another value at a place."""
    name, index = place
    if index is not None:
        items = list(call[name])
        items[index] = value
        value = items
    return {**call, name: value}


Change: TypeAlias = Callable[[TensorSpec], TensorSpec]


def changed(call: Mapping[str, Value], found: Iterable[Place], change: Change) -> Call:
    """Return the call with the tensors at some places changed."""
    made: Call = dict(call)
    for place in found:
        made = put(made, place, change(at(made, place)))
    return made


def each_tensor(call: Mapping[str, Value], change: Change) -> Call:
    """Return the call with every tensor changed."""
    return changed(call, places(call), change)


def contiguous_strides(shape: Shape) -> Shape:
    """Return row-major strides, in elements. A size of 0 counts as 1."""
    sizes = [max(size, 1) for size in shape]
    return tuple(product(sizes[dim + 1 :]) for dim in range(len(shape)))


Array: TypeAlias = "np.ndarray[Any, Any]"

_SAFE_INTEGERS = {"uint8": (0, 200), "int8": (-100, 100)}


def array_dtype(dtype: str) -> Any:
    """Return NumPy's dtype for elements in memory; bfloat16 is stored as uint16."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def elements(spec: TensorSpec) -> Array:
    """Return the elements in the shape of the tensor. The array is shared: copy it before you change it."""
    if spec.values is None:
        found = _remembered(spec.dtype, spec.shape, spec.fill, spec.rounded)
    else:
        found = _elements(spec)
    return np.flip(found, spec.flipped) if spec.flipped else found


@functools.lru_cache(maxsize=256)
def _remembered(dtype: str, shape: tuple[int, ...], fill: Fill, rounded: str) -> Array:
    found = _elements(TensorSpec(dtype, shape, fill, rounded=rounded))
    found.flags.writeable = False
    return found


def _elements(spec: TensorSpec) -> Array:
    if spec.values is not None:
        given = [complex(*v) if isinstance(v, tuple | list) else v for v in spec.values]
        numbers = np.array(given, dtype=_wide(spec.dtype))
    else:
        numbers = _filled(spec)
        if spec.dtype in _SAFE_INTEGERS:
            numbers = np.clip(numbers, *_SAFE_INTEGERS[spec.dtype])
    if spec.rounded == "bfloat16":
        numbers = rounded_to_bfloat16(numbers.astype(np.float32))
    elif spec.rounded:
        numbers = numbers.astype(spec.rounded)
    if spec.dtype == "bfloat16":
        return rounded_to_bfloat16(numbers.astype(np.float32)).reshape(spec.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        return numbers.astype(spec.dtype).reshape(spec.shape)


def _wide(dtype: str) -> Any:
    if dtype in COMPLEX:
        return np.complex128
    return np.float64 if dtype in FLOATS else (np.bool_ if dtype == "bool" else np.int64)


def _filled(spec: TensorSpec) -> Array:
    count, fill = spec.count, spec.fill
    if spec.dtype == "bool":
        return np.random.default_rng(fill.seed + 1).random(count) < 0.5
    if fill.whole or not spec.is_differentiable:
        low, high = math.ceil(fill.low), math.floor(fill.high)
        if spec.dtype == "uint8":
            low, high = max(low, 0), max(high, 0)
        if fill.seed == 0:
            return low + np.arange(count) % (high - low + 1)
        return np.random.default_rng(fill.seed).integers(low, max(low, high) + 1, count)
    real = _floats(fill, count)
    if not spec.is_complex:
        return real
    other = Fill(fill.seed + 7919, fill.low, fill.high)
    return real + 1j * _floats(other, count)[::-1]


def _floats(fill: Fill, count: int) -> Array:
    """Return distinct numbers; the first ones of seed 0 have few digits."""
    if fill.seed == 0 and count <= 64:
        # Between the ends, in steps of about an eighth of the range, and not at zero.
        steps = (np.arange(count) * 5 + 3) % 16
        turn = np.arange(count) // 16
        found = fill.low + (fill.high - fill.low) * (steps + 0.5 + turn / 8) / 16.5
    else:
        found = np.random.default_rng(fill.seed).uniform(fill.low, fill.high, count)
    for point in fill.points:
        near = np.abs(found - point) < fill.gap
        away = point + fill.gap if point + fill.gap <= fill.high else point - fill.gap
        found = np.where(near, away, found)
    return np.asarray(found)


def rounded_to_bfloat16(numbers: Array) -> Array:
    """Return float32 numbers rounded to bfloat16, ties to even."""
    bits = numbers.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.asarray(np.where(np.isnan(numbers), bits, rounded).astype(np.uint32).view(np.float32))


def stored(numbers: Array, dtype: str) -> Array:
    """Return elements as they are stored in memory."""
    if dtype == "bfloat16":
        return (np.ascontiguousarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(array_dtype(dtype), copy=False)


def dense_layout(spec: TensorSpec) -> Layout:
    """Return the layout of a dense tensor in a storage of its own."""
    return Layout(contiguous_strides(spec.shape), 0, spec.count)


# Between the first and the last element of a tensor lie more than 32 bits can count.
_FAR = 1 << 31
# Elements before and behind those of a view.
_MARGIN = 3


def span(shape: Shape, strides: Sequence[int]) -> int:
    """Return the number of elements from the first to the last one."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def laid_out(spec: TensorSpec, strides: Shape, *, offset: int = 0, behind: int = 0) -> TensorSpec:
    """Return the tensor with these strides."""
    count = offset + span(spec.shape, strides) + behind
    return replace(spec, layout=Layout(strides, offset, count))


def is_strided(spec: TensorSpec) -> bool:
    """Whether a tensor with several elements has other strides than a dense one."""
    layout = spec.layout
    return (
        layout is not None and spec.count > 1 and layout.strides != contiguous_strides(spec.shape)
    )


def plain(spec: TensorSpec) -> TensorSpec:
    """Return a dense tensor, at an address that is a multiple of 64 bytes."""
    return laid_out(spec, contiguous_strides(spec.shape))


def transposed(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with its dimensions in the opposite order in memory."""
    return laid_out(spec, tuple(reversed(contiguous_strides(tuple(reversed(spec.shape))))))


def gapped(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with a gap behind every element, and behind every row."""
    *outer, last = spec.shape or (1,)
    rows = (step * (2 * max(last, 1) + 2) for step in contiguous_strides(tuple(outer)))
    return laid_out(spec, (*rows, 2) if spec.shape else ())


def padded(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with dense rows, and a gap between them: a part of a wider matrix."""
    if len(spec.shape) < 2:
        return gapped(spec)
    *outer, last = spec.shape
    rows = contiguous_strides(tuple(outer))
    return laid_out(spec, (*(step * (max(last, 1) + 2) for step in rows), 1))


def rotated(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with its last dimension outermost in memory."""
    if len(spec.shape) < 3:
        return transposed(spec)
    moved = contiguous_strides((spec.shape[-1], *spec.shape[:-1]))
    return laid_out(spec, (*moved[1:], moved[0]))


def shifted(spec: TensorSpec) -> TensorSpec:
    """Return the tensor, dense, inside of a larger storage."""
    strides = contiguous_strides(spec.shape)
    return laid_out(spec, strides, offset=_MARGIN, behind=_MARGIN)


def misaligned(spec: TensorSpec) -> TensorSpec:
    """Return the tensor, dense, at an address that is a multiple of its element's size only."""
    dense = plain(spec)
    assert dense.layout is not None
    return replace(dense, layout=replace(dense.layout, alignment=spec.itemsize))


def far_apart(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with such a stride along its first dimension that the last index needs more than 32 bits."""
    size, *inner = spec.shape
    made = laid_out(spec, (-(-_FAR // (size - 1)), *contiguous_strides(tuple(inner))))
    assert made.layout is not None
    return replace(made, layout=replace(made.layout, place="far"))


def expanded(spec: TensorSpec, dim: int) -> TensorSpec:
    """Return the tensor with stride 0 along a dimension, along which its elements must be equal."""
    sizes = tuple(1 if d == dim else size for d, size in enumerate(spec.shape))
    strides = list(contiguous_strides(sizes))
    strides[dim] = 0
    return laid_out(spec, tuple(strides))


def placed(spec: TensorSpec, place: str) -> TensorSpec:
    """Return the tensor at the head or the tail of a page, so that reading beside it ends the process."""
    layout = spec.layout or plain(spec).layout
    assert layout is not None
    return replace(spec, layout=replace(layout, place=place, alignment=spec.itemsize))


REPEATED = "an index occurs twice, and elements are overwritten by others"


def has_repeated_indices(call: Call) -> bool:
    """Whether an integer tensor of the call has two equal elements."""
    return any(map(_is_repeated, tensors(call)))


def with_distinct_indices(call: Call) -> Iterator[Call]:
    """Yield calls in which no two places have the same indices. The operator may refuse them, as out of range."""
    found = [place for place in places(call) if _is_repeated(at(call, place))]
    yield _numbered(call, [(place, np.arange(at(call, place).count)) for place in found])
    shape = at(call, found[0]).shape if found else ()
    if len(found) > 1 and all(at(call, place).shape == shape for place in found):
        # Each tensor counts along a dimension of its own: together, they are different everywhere.
        axes = [axis for axis, size in enumerate(shape) if size > 1]
        if len(axes) <= len(found):
            positions = [np.indices(shape)[axis].ravel() for axis in axes]
            positions += [positions[-1]] * (len(found) - len(axes))
            yield _numbered(call, list(zip(found, positions)))


def _numbered(call: Call, numbers: Sequence[tuple[Place, Array]]) -> Call:
    """Return the call with other elements of some tensors."""
    for place, values in numbers:
        call = put(call, place, replace(at(call, place), values=tuple(values.tolist())))
    return call


def _is_repeated(spec: TensorSpec) -> bool:
    return spec.is_integer and len(set(elements(spec).ravel().tolist())) < spec.count


def explicit(spec: TensorSpec, numbers: Array) -> TensorSpec:
    """Return a dense tensor with these elements."""
    flat = numbers.ravel()
    if spec.dtype in COMPLEX:
        values: tuple[Any, ...] = tuple((float(v.real), float(v.imag)) for v in flat)
    else:
        values = tuple(v.item() for v in flat)
    return replace(spec, shape=tuple(numbers.shape), values=values, layout=None, bit="", flipped=())


def reordered(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with its elements in another order. Those that an author has made stay together in their rows."""
    numbers = elements(spec)
    turned = numbers[::-1] if spec.values is not None and spec.shape else numbers.ravel()[::-1]
    return explicit(spec, turned.reshape(spec.shape))


def filled_with(spec: TensorSpec, value: float) -> TensorSpec:
    """Return a dense tensor whose elements are all equal."""
    return explicit(spec, np.full(spec.shape, value).astype(_array_dtype(spec)))


def _array_dtype(spec: TensorSpec) -> Any:
    return "float32" if spec.dtype == "bfloat16" else spec.dtype


def as_dtype(spec: TensorSpec, dtype: str) -> TensorSpec:
    """Return the tensor in another dtype. Its elements are converted if they are explicit."""
    if spec.values is None:
        return replace(spec, dtype=dtype)
    converted = replace(spec, dtype=dtype)
    with np.errstate(all="ignore"):
        return explicit(converted, elements(spec).astype(_array_dtype(converted)))


def with_sizes(call: Mapping[str, Any], sizes: Mapping[int, int]) -> Call:
    """Return the call with other sizes: equal sizes stay equal. Elements are filled anew."""

    def resized(spec: TensorSpec) -> TensorSpec:
        shape = tuple(sizes.get(size, size) for size in spec.shape)
        if spec.values is None or shape == spec.shape:
            return replace(spec, shape=shape, layout=None)
        # Repeat or cut the elements, so that they stay in their domain.
        numbers = elements(spec)
        kept = (np.arange(size) % max(old, 1) for size, old in zip(shape, spec.shape))
        made = numbers[np.ix_(*kept)] if numbers.size else np.zeros(shape, numbers.dtype)
        return explicit(spec, made)

    return each_tensor(call, resized)


def with_other_numbers(call: Mapping[str, Any]) -> Call:
    """Return the call with other floating-point numbers."""

    def other(value: Any) -> Any:
        return value + 0.25 if isinstance(value, float) else value

    return {name: each(other, value) for name, value in call.items()}


def sizes_of(call: Mapping[str, Any]) -> list[int]:
    """Return the sizes above 1 that tensors of the call have, each once."""
    return list(dict.fromkeys(size for s in tensors(call) for size in s.shape if size > 1))
