"""What a call returned and wrote, and how two of these differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from opgen.verify.backends.base import Described
from opgen.verify.calls.elements import Array

# The distance from 1 to the next number.
EPSILONS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
# Two loops over the same elements may add them in another order: so many units of the last place, of the largest number
# that can have taken part.
_UNITS = 64
_LEAST_SCALE = 4.0


class Result(Struct, frozen=True):
    """One tensor that a call returned, or wrote: `label` says which. Other results are `other`."""

    label: str
    described: Described | None = None
    elements: Array | None = None
    other: Any = None


def differ(
    found: Sequence[Result],
    expected: Sequence[Result],
    *,
    exact: bool = False,
    strides: bool = False,
    units: float = _UNITS,
) -> str | None:
    """Return how results differ from what is expected, in words; None if they agree.

    With `exact`, all bits of numbers are compared; else rounding may differ by some `units` of the last place.
    """
    if len(found) != len(expected):
        return f"{len(found)} results, expected {len(expected)}"
    for one, other in zip(found, expected):
        text = differ_once(one, other, exact=exact, strides=strides, units=units)
        if text is not None:
            return text
    return None


def differ_once(
    one: Result,
    other: Result,
    *,
    exact: bool = False,
    strides: bool = False,
    units: float = _UNITS,
) -> str | None:
    label = one.label or other.label
    a, b = one.described, other.described
    if a is None or b is None:
        if a is not b or not _same_values(one.other, other.other):
            return f"{label} is {one.other!r}, expected {other.other!r}"
        return None
    for what, x, y in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
        if x != y:
            return f"{label} has {what} {_text(x)}, expected {_text(y)}"
    if strides and significant(a) != significant(b):
        return f"{label} has strides {list(a.strides)}, expected {list(b.strides)}"
    if one.elements is None or other.elements is None:
        return None
    return _differing(label, one.elements, other.elements, a.dtype, exact, units)


def significant(described: Described) -> tuple[int, ...]:
    """Return the strides of dimensions with more than one element; none for a tensor without elements."""
    if 0 in described.shape:
        return ()
    return tuple(step for size, step in zip(described.shape, described.strides) if size > 1)


def _text(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _same_values(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    if isinstance(one, float | complex) and isinstance(other, float | complex):
        return bool(abs(one - other) <= 1e-6 * max(abs(one), abs(other), 1))
    return bool(one == other)


def _differing(
    label: str, found: Array, expected: Array, dtype: str, exact: bool, units: float
) -> str | None:
    if found.size == 0:
        return None
    wrong = wrong_elements(found, expected, dtype, exact=exact, units=units)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.unravel_index(int(wrong.ravel().argmax()), found.shape))
    count = int(wrong.sum())
    where = f"element {list(place)} of {label}" if place else label
    more = f" ({count} of {found.size} elements differ)" if count > 1 else ""
    return f"{where} is {found[place]}, expected {expected[place]}{more}"


def wrong_elements(
    found: Array, expected: Array, dtype: str, *, exact: bool = False, units: float = _UNITS
) -> Array:
    """Return which elements differ by more than rounding. NaN equals NaN."""
    if exact or dtype not in EPSILONS:
        same = found == expected
        if dtype in EPSILONS:
            same |= np.isnan(found) & np.isnan(expected)
        return np.asarray(~same)
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    a, b = found.astype(wide), expected.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        magnitudes = np.abs(b)
        finite = magnitudes[np.isfinite(magnitudes)]
        scale = max(float(finite.max()) if finite.size else 0.0, _LEAST_SCALE)
        near = np.abs(a - b) <= units * EPSILONS[dtype] * scale
        same = (a == b) | near | (_is_nan(a) & _is_nan(b))
    return np.asarray(~same)


def _is_nan(numbers: Array) -> Array:
    return np.asarray(np.isnan(numbers))
