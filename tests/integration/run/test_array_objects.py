"""Tensors from any data, views as attributes, weak references and text, with the operators that default tests compile."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from support.library import own_package


@pytest.fixture(scope="module")
def aten() -> Any:
    return own_package()


class Series:
    """An object with __array__, as pandas has."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1, 2], dtype="int16")


def test_data(aten: Any) -> None:
    """Protects sequences, series, and lists of tensors and arrays, with the dtype that all of them promote to."""
    row = aten.tensor([1.0, 2.0], dtype="float64")
    for data, dtype, expected in [
        (range(3), aten.int64, [0, 1, 2]),
        ([range(2), (3, 4)], aten.int64, [[0, 1], [3, 4]]),
        ([row, [3, 4]], aten.float64, [[1, 2], [3, 4]]),
        ([np.ones(2, "int8"), np.ones(2, "int16")], aten.int16, [[1, 1], [1, 1]]),
        ([row[0], 2], aten.float64, [1, 2]),
        (Series(), aten.int16, [1, 2]),
        ([Series(), row], aten.float64, [[1, 2], [1, 2]]),
        (np.array(3, "int8"), aten.int8, 3),
        ([aten.ones(0), aten.ones(0)], aten.float32, [[], []]),
    ]:
        found = aten.tensor(data)
        assert (found.dtype, found.tolist()) == (dtype, expected)
        assert aten.tensor(data, dtype="float32").dtype is aten.float32


def test_data_that_are_no_tensor(aten: Any) -> None:
    endless: list[Any] = []
    endless.append(endless)
    for data, error, text in [
        ("ab", TypeError, "not from str"),
        ({1: 2}, TypeError, "not from dict"),
        ([1, [2]], ValueError, "same length"),
        ([aten.ones(2), aten.ones(3)], ValueError, r"shapes \[2\] and \[3\]"),
        (2**70, OverflowError, "too large"),
        (endless, ValueError, "too deeply"),
        ([endless, range(2)], ValueError, "too deeply"),
    ]:
        with pytest.raises(error, match=text):
            aten.tensor(data)


def test_like(aten: Any) -> None:
    """Protects `like`: what is written is the caller's array, and a read-only one or an object without memory is refused."""
    ops = aten.like(np.ones(2))
    array = np.array([1.0, 2.0])
    assert type(ops.add(array, Series())) is np.ndarray and ops.add(array, 1).tolist() == [2, 3]
    assert ops.add(array, array[::-1]).tolist() == [3, 3]
    assert ops.cat([array, np.zeros(1)]).tolist() == [1, 2, 0]
    out = np.zeros(2)
    assert ops.add(array, np.float64(1), out=out) is out and out.tolist() == [2, 3]
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    for wrong in (fixed, Series()):
        with pytest.raises(TypeError):
            ops.add(array, array, out=wrong)
    with pytest.raises(AttributeError, match="'tensor' is no function of the library"):
        ops.tensor(array)
    assert isinstance(aten.like(aten.ones(1)).add(array, array), aten.Tensor) and "add" in dir(ops)


def test_sharing(aten: Any) -> None:
    array = np.arange(3.0)
    for share in (aten.as_tensor, aten.asarray):
        tensor = share(array)
        tensor[0] += 1
        assert array[0] == tensor[0] and share(tensor) is tensor
        assert share(tensor, dtype=aten.float32).tolist() == array.tolist()
    copied = aten.asarray(array, copy=True)
    copied[0] = 9
    assert array[0] != 9
    array.flags.writeable = False
    assert aten.asarray(array).tolist() == array.tolist()
    with pytest.raises(ValueError, match="copy=False"):
        aten.asarray(array, copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        aten.asarray([1], copy=False)


def test_views(aten: Any) -> None:
    x = aten.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x.T[0, 1] = 7
    assert x.tolist() == [[1, 2, 3], [7, 5, 6]] and x.T.shape == x.mT.shape == (3, 2)
    z = aten.tensor([1 + 2j, 3 - 1j])[1:]
    z.imag[0] = 5
    assert z.tolist() == [3 + 5j] and z.real.tolist() == [3] and x.real is x
    with pytest.raises(TypeError, match="no imaginary part"):
        _ = x.imag
    with pytest.raises(ValueError, match=r"x\.T needs a tensor of 2 dimensions"):
        _ = x[0].T


def test_conjugate_transposes(aten: Any) -> None:
    """Protects x.H and x.mH of real numbers, which are views as x.T and x.mT are."""
    x = aten.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x.H[0, 1] = 7
    x[None].mH[0, 2, 0] = 9
    assert x.tolist() == [[1, 2, 9], [7, 5, 6]]
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        _ = x[0].mH


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *(("bool", "bool"), ("byte", "uint8"), ("char", "int8"), ("short", "int16")),
        *(("int", "int32"), ("long", "int64"), ("half", "float16"), ("bfloat16", "bfloat16")),
        *(("float", "float32"), ("double", "float64")),
        *(("cfloat", "complex64"), ("cdouble", "complex128")),
    ],
)
def test_conversions(aten: Any, name: str, dtype: str) -> None:
    """Protects x.float() and its like: new tensors of the dtype, and the same tensor if it has the dtype."""
    x = aten.tensor([[0, 1, 7], [2, 0, 100]], dtype="int16" if name != "short" else "int32")[:, 1:]
    converted = getattr(x, name)()
    assert converted.dtype is getattr(aten, dtype)
    expected = [[bool(n) for n in row] for row in x.tolist()] if name == "bool" else x.tolist()
    assert converted.tolist() == expected
    assert getattr(converted, name)() is converted
    with pytest.raises(TypeError):
        getattr(x, name)(None, None)


@pytest.mark.slow
def test_weak_references(aten: Any) -> None:
    """Protects wrappers that are used again: their weak references are those of the new tensor only."""
    called: list[Any] = []
    for _ in range(3):
        x = aten.ones(2)
        reference = weakref.ref(x, called.append)
        assert reference() is x
        del x
        gc.collect()
        assert reference() is None
    assert len(called) == 3
    cache: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    x = aten.ones(2)
    cache[x] = 1
    assert len(cache) == 1
    del x
    assert len(cache) == 0


def test_text(aten: Any) -> None:
    assert repr(aten.tensor([[1.0, 100.5], [3.25, -2e10]])) == (
        "tensor([[   1.0,  100.5],\n        [  3.25, -2e+10]])"
    )
    assert repr(aten.tensor([1.0, 0.25, 10.0])) == "tensor([1.0, 0.25, 10.0])"
    lines = repr(aten.arange(40)).splitlines()
    assert all(len(line) <= 80 for line in lines) and len(lines) == 3
    assert lines[1].startswith("        17, 18")


def test_print_options(aten: Any) -> None:
    try:
        aten.set_printoptions(precision=2, threshold=5, edgeitems=1)
        assert repr(aten.tensor([1 / 3, 2e-9])) == "tensor([0.33, 2.00e-09])"
        assert repr(aten.arange(6)) == "tensor([0, ..., 5])"
        aten.set_printoptions(profile="full", linewidth=30)
        assert "..." not in repr(aten.arange(2000))
        assert max(map(len, repr(aten.arange(2000)).splitlines())) <= 31
        with pytest.raises(ValueError, match="edgeitems must be at least 1"):
            aten.set_printoptions(edgeitems=0)
        with pytest.raises(ValueError, match="profile must be"):
            aten.set_printoptions(profile="none")
    finally:
        aten.set_printoptions(profile="default")


def test_names_of_the_package(aten: Any) -> None:
    assert aten.finfo(aten.float32).eps == np.finfo("float32").eps
    assert aten.iinfo("int8").max == 127 and aten.newaxis is None
    assert (aten.pi, aten.e, aten.inf) == (np.pi, np.e, np.inf) and aten.nan != aten.nan
