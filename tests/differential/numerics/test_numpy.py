"""The most important operators compared with NumPy: a second reference, and the only one where torch is not installed."""

from __future__ import annotations

from collections.abc import Callable

import opgen
from differential.numerics.constraints import CONSTRAINTS
from differential.numerics.draw import Draw
from differential.numerics.driver import Library
from differential.numerics.numpy_reference import EXPECTED, compare
from differential.numerics.values import BY_NAME
from support.selection import each

COUNT = 40


@each("overload", EXPECTED)
def test_agrees_with_numpy(
    overload: str,
    library: Library,
    registry: opgen.Registry,
    record_property: Callable[[str, object], None],
) -> None:
    schema = next(f.func for f in registry.functions if str(f.func.name) == overload)
    dtypes, expected = EXPECTED[overload]
    total = 0
    for dtype in map(BY_NAME.__getitem__, dtypes):
        compared = sum(
            compare(library, overload, Draw(schema, dtype, seed, CONSTRAINTS), expected)
            for seed in range(COUNT)
        )
        assert (
            compared >= COUNT // 2
        ), f"{overload} {dtype}: {compared} of {COUNT} could be compared"
        total += compared
    record_property("numerics: inputs compared with NumPy", total)
