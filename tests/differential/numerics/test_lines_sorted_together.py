"""Lines of every length are sorted as NumPy sorts them, whether alone, by their bytes, or together with their neighbours
in the lanes of vectors; equal elements keep their order either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.library import own_package

pytestmark = [pytest.mark.slow, pytest.mark.whole_library]

# Beyond the longest lines that are sorted together, too.
_LENGTHS = (*range(1, 36), 63, 64, 65, 127, 128, 129, 257, 1000, 1024, 1025)
_DTYPES = ("float32", "float64", "int64", "int32", "uint8", "int8")
_RANDOM = np.random.default_rng(3)


def _lines(count: int, length: int, dtype: str) -> Any:
    """Return lines with many equal elements, both zeros, infinities and NaN; of int64, some with distant numbers."""
    if dtype.startswith("float"):
        drawn = _RANDOM.integers(-9, 9, (count, length)).astype(dtype)
        special = _RANDOM.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40], (count, length))
        return np.where(_RANDOM.random((count, length)) < 0.3, special.astype(dtype), drawn)
    low = 0 if dtype == "uint8" else -100
    drawn = _RANDOM.integers(low, 100, (count, length)).astype(dtype)
    if dtype == "int64" and length % 2:
        drawn[-1] = _RANDOM.integers(-(2**62), 2**62, length)
    return drawn


def _order(lines: Any, descending: bool) -> Any:
    if not descending:
        return np.argsort(lines, axis=1, kind="stable")
    backwards = np.argsort(lines[:, ::-1], axis=1, kind="stable")[:, ::-1]
    return lines.shape[1] - 1 - backwards


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("dtype", _DTYPES)
def test_lines_of_every_length(dtype: str, descending: bool) -> None:
    aten: Any = own_package()
    for length in _LENGTHS:
        for count in (1, 2, 8, 11):
            lines = _lines(count, length, dtype)
            order = _order(lines, descending)
            expected = np.take_along_axis(lines, order, axis=1)
            adjacent = aten.from_numpy(lines.copy())
            alternating = aten.from_numpy(lines.T.copy()).transpose(0, 1)
            for given in (adjacent, alternating):
                values, places = aten.sort(given, stable=True, dim=1, descending=descending)
                assert (places.contiguous().numpy() == order).all(), (length, count)
                np.testing.assert_array_equal(values.contiguous().numpy(), expected)
            few = min(length, 20)
            values, places = aten.topk(adjacent, few, dim=1, largest=descending)
            np.testing.assert_array_equal(values.numpy(), expected[:, :few])


def test_the_result_may_be_the_input() -> None:
    aten: Any = own_package()
    lines = _lines(11, 100, "float32")
    order = _order(lines, False)
    given = aten.from_numpy(lines.copy())
    places = aten.zeros(11, 100, dtype=aten.int64)
    aten.sort(given, stable=True, dim=1, descending=False, out=(given, places))
    assert (places.numpy() == order).all()
    np.testing.assert_array_equal(given.numpy(), np.take_along_axis(lines, order, axis=1))
