"""Products large enough for a BLAS, in every layout and with every factor, compared with NumPy.

The random inputs of the other tests are small and never reach a BLAS.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from differential.numerics.driver import Library, value_of
from differential.numerics.values import Array
from support.library import WHOLE

# Error per element, relative to the length of a row of numbers up to one.
DTYPES = {
    "float32": 1e-5,
    "float64": 1e-13,
    "complex64": 2e-5,
    "complex128": 1e-13,
    "float16": 2e-2,
    "int64": 0,
}
# Layouts of a matrix: contiguous, transposed, with gaps between its rows, with gaps between its
# elements (which no BLAS accepts), all rows in the same place.
LAYOUTS = ("rows", "columns", "gaps", "strided", "expanded")
FACTORS = ((1, 1), (0, 1), (2, -3), (0.5, 0), (0, 0))


def _numbers(random: np.random.Generator, dtype: str, *sizes: int) -> Array:
    if dtype == "int64":
        return random.integers(-9, 9, sizes)
    drawn = random.uniform(-1, 1, sizes)
    if dtype.startswith("complex"):
        return (drawn + 1j * random.uniform(-1, 1, sizes)).astype(dtype)
    return drawn.astype(dtype)


def _matrix(random: np.random.Generator, dtype: str, layout: str, *sizes: int) -> Array:
    *batch, rows, columns = sizes
    match layout:
        case "columns":
            return _numbers(random, dtype, *batch, columns, rows).swapaxes(-1, -2)
        case "gaps":
            return _numbers(random, dtype, *batch, rows + 2, columns + 5)[..., 1:-1, 2:-3]
        case "strided":
            return _numbers(random, dtype, *batch, rows, 2 * columns)[..., ::2]
        case "expanded":
            return np.broadcast_to(_numbers(random, dtype, *batch, 1, columns), sizes)
        case _:
            return _numbers(random, dtype, *sizes)


def _wide(array: Array) -> Array:
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    return array.astype(np.complex128) if array.dtype.kind == "c" else array


def _check(ours: Array, wanted: Array, dtype: str, what: object) -> None:
    assert ours.dtype == dtype and ours.shape == wanted.shape, what
    scale = max(1.0, float(np.abs(wanted).max()))
    assert np.abs(_wide(ours) - wanted).max() <= DTYPES[dtype] * scale, what


each_dtype = pytest.mark.parametrize(
    ("dtype", "part"),
    [
        *((dtype, "slice") for dtype in ("float32", "complex128", "int64")),
        *(pytest.param(dtype, "whole", marks=WHOLE) for dtype in DTYPES),
    ],
)


@each_dtype
def test_products_of_matrices_and_batches(dtype: str, library: Library) -> None:
    """mm and bmm are right for every combination of layouts: no BLAS reads a wrong stride."""
    random = np.random.default_rng(1)
    for left, right in itertools.product(LAYOUTS, LAYOUTS):
        for rows, inner, columns in ((17, 33, 19), (40, 64, 1), (1, 70, 65)):
            a = _matrix(random, dtype, left, rows, inner)
            b = _matrix(random, dtype, right, inner, columns)
            (ours,) = library.call("aten::mm", {"self": a, "mat2": b})
            _check(ours.array(), _wide(a) @ _wide(b), dtype, (left, right, a.shape, b.shape))
        a = _matrix(random, dtype, left, 3, 17, 20)
        b = _matrix(random, dtype, right, 3, 20, 18)
        (ours,) = library.call("aten::bmm", {"self": a, "mat2": b})
        _check(ours.array(), _wide(a) @ _wide(b), dtype, ("bmm", left, right))


@each_dtype
def test_products_that_are_scaled_and_added(dtype: str, library: Library) -> None:
    """addmm is beta * self + alpha * (mat1 @ mat2), functional, in place and into an output of any layout; with beta
    0, self is not read, not even NaN.
    """
    random = np.random.default_rng(2)
    for layout, (beta, alpha) in itertools.product(LAYOUTS, FACTORS):
        if dtype == "int64" and isinstance(beta, float):
            continue
        a, b = _matrix(random, dtype, layout, 17, 33), _matrix(random, dtype, "columns", 33, 19)
        addend = _matrix(random, dtype, layout, 17, 19)
        factors: dict[str, Any] = {"beta": beta, "alpha": alpha, "mat1": a, "mat2": b}
        wanted = beta * _wide(addend) + alpha * (_wide(a) @ _wide(b))
        (ours,) = library.call("aten::addmm", {"self": addend, **factors})
        _check(ours.array(), wanted, dtype, ("addmm", layout, beta, alpha))
        out = library.make(value_of(_matrix(random, dtype, "columns", 17, 19)))
        given = {"self": addend, **factors}
        handles = {name: library.make(value) for name, value in given.items()}
        library.call_handles("aten::addmm.out", {**handles, "out": out})
        _check(library.tensor(out).array(), wanted, dtype, ("addmm.out", layout, beta, alpha))
        if layout != "expanded":
            (ours,) = library.call("aten::addmm_", given)
            _check(ours.array(), wanted, dtype, ("addmm_", layout, beta, alpha))
        if dtype != "int64" and beta == 0:
            bad = np.full_like(addend, np.nan)
            (ours,) = library.call("aten::addmm", {"self": bad, **factors})
            _check(ours.array(), wanted, dtype, ("not a number", layout, alpha))


def test_an_addend_that_is_one_row_or_one_number(library: Library) -> None:
    """The addend broadcasts: the bias of a layer is a row."""
    random = np.random.default_rng(3)
    a, b = random.uniform(-1, 1, (32, 40)), random.uniform(-1, 1, (40, 24))
    for sizes in ((24,), (1, 24), (32, 1), ()):
        bias = random.uniform(-1, 1, sizes)
        (ours,) = library.call("aten::addmm", {"self": bias, "mat1": a, "mat2": b, "beta": 2})
        _check(ours.array(), 2 * bias + a @ b, "float64", sizes)
