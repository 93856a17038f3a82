"""An element has the same bits wherever it lies: in a whole vector or in the rest of a row, in contiguous memory, with
gaps, transposed or broadcast. Loops over vectors collect other rows in blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.library import own_package
from support.selection import each_function

_UNARY = (
    *("exp", "log", "log1p", "tanh", "erf", "sigmoid", "sin", "cos", "atan", "special_entr"),
    *("silu", "gelu", "sqrt", "rsqrt", "reciprocal", "floor", "ceil", "round", "trunc", "sign"),
    *("abs", "neg", "relu", "leaky_relu", "isnan", "logical_not", "square"),
)
_BINARY = ("pow", "remainder", "maximum", "minimum", "add", "mul", "div", "eq", "lt")
_DTYPES = ("float32", "float16", "bfloat16", "float64")
_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-41, -1e-41, 3e38, 1.0, -1.0, 0.5, 1e6, 3e7)


def _numbers(count: int) -> Any:
    drawn = np.random.default_rng(7).normal(0, 3, count)
    drawn[: len(_SPECIAL)] = _SPECIAL[:count]
    return drawn.astype(np.float32)


def _called(name: str) -> Any:
    aten: Any = own_package()
    # The slice has no module `special`.
    for place in (aten.nn, getattr(aten, "special", None), aten):
        found = getattr(place, name, None)
        if found is not None:
            return found
    raise AssertionError(name)


def _bits(tensor: Any) -> Any:
    """Return the elements' bits in row-major order; every NaN is the same."""
    aten: Any = own_package()
    wide = tensor.to(aten.float64).contiguous().numpy() if tensor.dtype != aten.bool else None
    if wide is None:
        return tensor.contiguous().numpy().ravel()
    return np.where(np.isnan(wide), np.nan, wide).view(np.int64).ravel()


def _tensor(numbers: Any, dtype: str) -> Any:
    aten: Any = own_package()
    return aten.from_numpy(numbers.copy()).to(getattr(aten, dtype))


@pytest.mark.parametrize("dtype", _DTYPES)
@each_function("name", _UNARY)
def test_functions_of_one_tensor(name: str, part: str, dtype: str) -> None:
    function = _called(name)
    numbers = _numbers(1200)
    x = _tensor(numbers, dtype)
    whole = _bits(function(x))
    # Rests of every length, also of rows that begin elsewhere.
    for count in (*range(1, 40), 511, 512, 513, 700):
        assert (_bits(function(x[:count].clone())) == whole[:count]).all(), count
        assert (_bits(function(x[3 : 3 + count])) == whole[3 : 3 + count]).all(), count
    with_gaps = _tensor(np.repeat(numbers, 2), dtype)[::2]
    assert (_bits(function(with_gaps)) == whole).all()
    few = with_gaps[:7]
    assert (_bits(function(few)) == whole[:7]).all()
    matrix = x.view((30, 40))
    transposed = whole.reshape(30, 40).T.ravel()
    assert (_bits(function(matrix.transpose(0, 1))) == transposed).all()
    spread = x[:30].unsqueeze(1).expand((30, 40))
    assert (_bits(function(spread)) == np.repeat(whole[:30], 40)).all()


@pytest.mark.parametrize("dtype", _DTYPES)
@each_function("name", _BINARY)
def test_functions_of_two_tensors(name: str, part: str, dtype: str) -> None:
    function = _called(name)
    numbers = _numbers(1200)
    others = np.roll(numbers, 1).copy()
    x, y = _tensor(numbers, dtype), _tensor(others, dtype)
    whole = _bits(function(x, y))
    for count in (1, 5, 8, 15, 16, 17, 33, 257, 600):
        assert (_bits(function(x[:count].clone(), y[:count].clone())) == whole[:count]).all()
    gaps = _tensor(np.repeat(numbers, 2), dtype)[::2], _tensor(np.repeat(others, 3), dtype)[::3]
    assert (_bits(function(*gaps)) == whole).all()
    assert (_bits(function(gaps[0], y)) == whole).all()
    one = function(x, y[5:6].expand((1200,)).clone())
    assert (_bits(function(x, y[5:6])) == _bits(one)).all()
    target = _tensor(np.repeat(numbers, 2), dtype)[::2]
    if name not in ("eq", "lt"):
        function(x, y, out=target)
        assert (_bits(target) == whole).all()


@pytest.mark.parametrize("dtype", ("float32", "float64", "int64", "uint8"))
def test_short_rows_are_joined(dtype: str) -> None:
    """Loops run several short rows as one, with copies of inputs that are the same row each time or that have gaps."""
    aten: Any = own_package()
    random = np.random.default_rng(5)
    for width in (*range(1, 20), 31, 32, 33, 63, 64, 127, 128, 129):
        rows = 1100 // width + 9
        matrix = random.integers(0, 100, (rows, width)).astype(dtype)
        wide = random.integers(0, 100, (rows, width + 3)).astype(dtype)
        vector = random.integers(0, 100, width).astype(dtype)
        a, b, c = (aten.from_numpy(each.copy()) for each in (matrix, wide, vector))
        sliced, numbers = b[:, 2 : 2 + width], wide[:, 2 : 2 + width]
        assert (aten.add(a, c).numpy() == matrix + vector).all(), width
        assert (aten.add(c, a).numpy() == matrix + vector).all(), width
        assert (aten.add(a, sliced).numpy() == matrix + numbers).all(), width
        assert (aten.mul(sliced, c).numpy() == numbers * vector).all(), width
        assert (aten.lt(sliced, c).numpy() == (numbers < vector)).all(), width
        a.add_(c)
        assert (a.numpy() == matrix + vector).all(), width
        sliced.add_(c)
        wide[:, 2 : 2 + width] += vector
        assert (b.numpy() == wide).all(), width
