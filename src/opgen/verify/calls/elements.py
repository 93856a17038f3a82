"""The elements of tensors as NumPy arrays. Those of bfloat16 are arrays of float32."""

from __future__ import annotations

import functools
import math
from typing import Any, TypeAlias

import numpy as np

from opgen.verify.calls.specs import COMPLEX, FLOATS, Fill, TensorSpec

Array: TypeAlias = "np.ndarray[Any, Any]"

_SAFE_INTEGERS = {"uint8": (0, 200), "int8": (-100, 100)}


def array_dtype(dtype: str) -> Any:
    """Return NumPy's dtype for elements in memory; bfloat16 is stored as uint16."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def elements(spec: TensorSpec) -> Array:
    """Return the elements in the shape of the tensor. The array is shared: copy it before you change it."""
    if spec.values is None:
        return _remembered(spec.dtype, spec.shape, spec.fill, spec.rounded)
    return _elements(spec)


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
    if spec.dtype in _SAFE_INTEGERS and spec.values is None:
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


def loaded(raw: Array, dtype: str) -> Array:
    """Return the numbers that stored elements stand for."""
    if dtype == "bfloat16":
        return (np.ascontiguousarray(raw).astype(np.uint32) << 16).view(np.float32)
    return raw
