"""isin finds integers among many others as NumPy does: in a table where these are near each other, else by searching."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.library import own_package

pytestmark = [pytest.mark.slow, pytest.mark.whole_library]

_RANDOM = np.random.default_rng(5)


def _near(dtype: str, place: int, count: int, span: int) -> Any:
    """Return `count` different numbers from `place` on, or up to it where the dtype ends."""
    numbers = place + np.arange(span, dtype=object) - (span if place > 0 else 0)
    return _RANDOM.choice(numbers, count, replace=False).astype(dtype)


@pytest.mark.parametrize("dtype", ("uint8", "int8", "int16", "int32", "int64"))
def test_integers_among_many(dtype: str) -> None:
    """Protects the bounds of the table: numbers below it, beyond it, and distances that do not fit the dtype."""
    aten: Any = own_package()
    ends = np.iinfo(dtype)
    # With up to 32 different ones, each is compared. Beyond a span of 4 times all elements, there is no table.
    for place in {int(ends.min), -50 if ends.min < 0 else 130, int(ends.max)}:
        for count, span in ((33, 34), (60, 100), (60, 120)):
            wanted = _near(dtype, place, count, span)
            around = np.arange(place - 150, place + 150, dtype=object).clip(ends.min, ends.max)
            elements = np.concatenate(
                [around.astype(dtype), wanted, np.array([ends.min, ends.max, 0], dtype)]
            )
            far = np.concatenate([wanted, np.array([ends.min, ends.max], dtype)])
            for tested in (wanted, far):
                for invert in (False, True):
                    found = aten.isin(
                        aten.from_numpy(elements), aten.from_numpy(tested), invert=invert
                    )
                    expected = np.isin(elements, tested, invert=invert, kind="sort")
                    np.testing.assert_array_equal(
                        found.numpy(), expected, f"{place} {count} {span}"
                    )
