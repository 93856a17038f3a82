"""Argument values as plain data: the generator makes them, and our tensors and PyTorch's are made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# An array of any shape and element type.
Array = Any


@dataclass(frozen=True, slots=True)
class Dtype:
    """An element type with PyTorch's name and number; `carrier` is the NumPy type of its bytes."""

    name: str
    number: int
    carrier: np.dtype[Any]
    kind: str  # bool, int, float or complex

    @property
    def itemsize(self) -> int:
        return int(self.carrier.itemsize)

    def __repr__(self) -> str:
        return self.name


def _dtype(name: str, number: int, carrier: str, kind: str) -> Dtype:
    return Dtype(name, number, np.dtype(carrier), kind)


DTYPES = (
    _dtype("bool", 11, "bool", "bool"),
    _dtype("uint8", 0, "uint8", "int"),
    _dtype("int8", 1, "int8", "int"),
    _dtype("int16", 2, "int16", "int"),
    _dtype("int32", 3, "int32", "int"),
    _dtype("int64", 4, "int64", "int"),
    _dtype("float16", 5, "float16", "float"),
    # NumPy has no bfloat16: its bits are stored as uint16.
    _dtype("bfloat16", 15, "uint16", "float"),
    _dtype("float32", 6, "float32", "float"),
    _dtype("float64", 7, "float64", "float"),
    _dtype("complex64", 9, "complex64", "complex"),
    _dtype("complex128", 10, "complex128", "complex"),
)
BY_NAME = {dtype.name: dtype for dtype in DTYPES}
BY_NUMBER = {dtype.number: dtype for dtype in DTYPES}
BOOL, INT64, FLOAT32 = BY_NAME["bool"], BY_NAME["int64"], BY_NAME["float32"]


def to_numbers(dtype: Dtype, carried: Array) -> Array:
    """Return the numbers that an array of `dtype.carrier` represents."""
    if dtype.name == "bfloat16":
        return (carried.astype(np.uint32) << 16).view(np.float32)
    return carried


def from_numbers(dtype: Dtype, numbers: Array) -> Array:
    """The inverse of to_numbers; bfloat16 rounds to nearest even."""
    if dtype.name != "bfloat16":
        return numbers.astype(dtype.carrier)
    bits = numbers.astype(np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(numbers), np.uint16(0x7FC0), rounded)


@dataclass(frozen=True, slots=True)
class TensorValue:
    """The description of a tensor: a view (sizes, strides and offset in elements) of the whole of `storage`."""

    dtype: Dtype
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: bytes

    def array(self) -> Array:
        """Its elements as a strided NumPy array over a copy of the storage, bfloat16 as float32."""
        numbers = to_numbers(self.dtype, np.frombuffer(self.storage, self.dtype.carrier))
        step = numbers.itemsize
        return np.ndarray(
            self.sizes,
            numbers.dtype,
            numbers if numbers.size else np.zeros(1, numbers.dtype),
            self.offset * step,
            tuple(stride * step for stride in self.strides),
        )

    def __repr__(self) -> str:
        shape = f"{self.dtype.name}{list(self.sizes)}"
        if self.strides != contiguous_strides(self.sizes) or self.offset:
            shape += f" strides {list(self.strides)} offset {self.offset}"
        if len(self.storage) > 400 * self.dtype.itemsize:
            return f"<{shape} …>"
        return f"<{shape} {self.array().tolist()}>"


@dataclass(frozen=True, slots=True)
class Device:
    name: str


@dataclass(frozen=True, slots=True)
class Layout:
    name: str = "strided"
    number: int = 0


@dataclass(frozen=True, slots=True)
class MemoryFormat:
    name: str
    number: int


CONTIGUOUS_FORMAT = MemoryFormat("contiguous_format", 0)
PRESERVE_FORMAT = MemoryFormat("preserve_format", 1)
CHANNELS_LAST = MemoryFormat("channels_last", 2)
CHANNELS_LAST_3D = MemoryFormat("channels_last_3d", 3)


@dataclass(frozen=True, slots=True)
class GeneratorValue:
    """A new generator of random numbers with this seed."""

    seed: int


# None, bool, int, float, complex, str, any of the above, or a tuple of such.
Value = Any


def contiguous_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements; a size of 0 counts as 1, as in PyTorch."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def elements(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
