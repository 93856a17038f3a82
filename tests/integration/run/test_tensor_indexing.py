"""a[key] and a[key] = value from Python: compared with NumPy and torch, for keys of all kinds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.library import own_package

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow

CASES = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def aten() -> Any:
    return own_package()


@st.composite
def keys(draw: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Return sizes, and a key for them: parts of every kind, in any order, with index arrays that broadcast."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    shape = draw(st.sampled_from([(), (1,), (3,), (2, 1), (0,)]))
    key: list[Any] = []
    dim, ellipsis = 0, False
    while dim < len(sizes):
        size = sizes[dim]
        kind = draw(
            st.sampled_from(["int", "slice", "array", "mask", "none", "bool", "ellipsis", "end"])
        )
        if kind == "end":
            break
        if kind == "int":
            key.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            bound = st.none() | st.integers(-size - 1, size + 1)
            key.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2]))))
        elif kind == "array":
            this = draw(st.sampled_from([shape, shape, ()]))
            count = int(np.prod(this))
            flat = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
            key.append(np.array(flat, dtype="int64").reshape(this))
        elif kind == "mask":
            dims = draw(st.integers(1, min(2, len(sizes) - dim)))
            count = int(np.prod(sizes[dim : dim + dims]))
            flat = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            key.append(np.array(flat, dtype="bool").reshape(sizes[dim : dim + dims]))
            dim += dims - 1
        elif kind == "none":
            key.append(None)
            dim -= 1
        elif kind == "bool":
            key.append(draw(st.booleans()))
            dim -= 1
        elif ellipsis:
            break
        else:
            key.append(...)
            ellipsis = True
            dim += draw(st.integers(0, len(sizes) - dim)) - 1
        dim += 1
        if len(key) > 6:
            break
    return sizes, tuple(key)


def translated(key: tuple[Any, ...], make: Any) -> tuple[Any, ...]:
    return tuple(make(k) if isinstance(k, np.ndarray) else k for k in key)


def outcome(work: Any) -> Any:
    """Return the lists that `work` gives, or the fact that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work().tolist()
    except (IndexError, ValueError, RuntimeError):
        return "an error"


def put(array: Any, key: Any, value: Any) -> Any:
    array[key] = value
    return array


def is_numpys(key: tuple[Any, ...]) -> bool:
    """Return whether NumPy means the same: it treats a number next to an index array as an index array, too."""
    advanced = any(isinstance(k, (np.ndarray, bool)) for k in key)
    numbers = any(type(k) is int or (isinstance(k, np.ndarray) and k.ndim == 0) for k in key)
    return not (advanced and numbers) and not any(isinstance(k, bool) for k in key)


def for_numpy(sizes: tuple[int, ...], key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return `key` without an ellipsis that stands for no dimension: NumPy takes index arrays on both sides of it for
    arrays that are apart.
    """
    used = sum(
        k.ndim if isinstance(k, np.ndarray) and k.dtype == bool else 1
        for k in key
        if k is not None and k is not ...
    )
    return tuple(k for k in key if k is not ...) if used == len(sizes) else key


@CASES
@given(case=keys())
def test_reading(aten: Any, case: tuple[tuple[int, ...], tuple[Any, ...]]) -> None:
    """Protects every mixture of keys: the same numbers in the same shape as torch, and as NumPy where it means the
    same.
    """
    sizes, key = case
    n = np.arange(np.prod(sizes)).reshape(sizes)
    ours = outcome(lambda: aten.tensor(n)[translated(key, aten.tensor)])
    # The package also accepts NumPy arrays in keys.
    assert ours == outcome(lambda: aten.tensor(n)[key])
    assert ours == outcome(lambda: torch.tensor(n)[translated(key, torch.tensor)])
    if is_numpys(key):
        assert ours == outcome(lambda: n[for_numpy(sizes, key)])


@CASES
@given(case=keys(), how=st.sampled_from(["number", "all", "last", "ones", "float"]))
def test_writing(aten: Any, case: tuple[tuple[int, ...], tuple[Any, ...]], how: str) -> None:
    """Protects assignment with broadcasting; where places repeat, all get the same value."""
    sizes, key = case
    n = np.arange(np.prod(sizes)).reshape(sizes)
    try:
        found = tuple(torch.tensor(n)[translated(key, torch.tensor)].shape)
    except (IndexError, RuntimeError):
        found = (1,)
    shape = {"number": (), "all": found, "last": found[-1:], "ones": (1, 1, *found), "float": ()}[
        how
    ]
    value: Any = np.full(shape, -5)
    ours = outcome(lambda: put(aten.tensor(n), translated(key, aten.tensor), aten.tensor(value)))
    assert ours == outcome(
        lambda: put(torch.tensor(n), translated(key, torch.tensor), torch.tensor(value))
    )
    if shape == ():
        number = -5.0 if how == "float" else -5
        assert ours == outcome(lambda: put(aten.tensor(n), key, number))
    assert ours == outcome(lambda: put(aten.tensor(n), key, value))
    if is_numpys(key) and how != "ones":  # NumPy accepts more dimensions only for some keys.
        assert ours == outcome(lambda: put(n.copy(), for_numpy(sizes, key), value))


def test_lists_and_small_integers(aten: Any) -> None:
    n = np.arange(12).reshape(3, 4)
    t = aten.tensor(n)
    lists = [[0, 2], [], [True, False, True], [[0, 1], [2, 0]]]
    for key in [*lists, ([0, 1], [1, 2]), (slice(None), [0, 0])]:
        assert t[key].tolist() == n[key].tolist(), key
    for dtype in ["int8", "int16", "int32", "int64"]:
        assert t[aten.tensor([2, 0], dtype=dtype)].tolist() == n[[2, 0]].tolist()
    assert t[np.int64(1)].tolist() == n[1].tolist() and t[aten.tensor(1)].data_ptr() != t.data_ptr()
    t[1] = [7, 8, 9, 10]
    t[:, 0] = np.array([1, 2, 3])
    t[[0, 2], 1:3] = [[5, 6]]
    n[1], n[:, 0], n[[0, 2], 1:3] = [7, 8, 9, 10], [1, 2, 3], [[5, 6]]
    assert t.tolist() == n.tolist()


def test_numbers_are_cast_to_the_dtype_of_the_tensor(aten: Any) -> None:
    t = aten.tensor([1, 2, 3])
    t[aten.tensor([0])] = 2.7
    t[[1]] = aten.tensor([9.9])
    assert t.tolist() == [2, 9, 3] and t.dtype is aten.int64


def test_parts_that_overlap(aten: Any) -> None:
    """Protects reads from the bytes that the same assignment writes; the results are NumPy's."""
    t = aten.arange(6)
    t[1:] = t[:-1]
    assert t.tolist() == [0, 0, 1, 2, 3, 4]
    t[[0, 1, 2]] = t[3:]
    assert t.tolist() == [2, 3, 4, 2, 3, 4]
    t[aten.tensor([False, False, True, False, False, True])] += 10
    assert t.tolist() == [2, 3, 14, 2, 3, 14]


def test_errors(aten: Any) -> None:
    t = aten.zeros(2, 3)
    for key, kind, text in [
        ([5], IndexError, "out of"),
        (aten.tensor([0.5]), IndexError, "integers and masks, not by float32"),
        (aten.tensor([True]), IndexError, "mask"),
        ((0, 0, aten.tensor([0])), IndexError, "too many indices"),
        ("x", TypeError, "not by str"),
        (0.5, TypeError, "not by float"),
        (([0, 1], [0, 1, 2]), (IndexError, ValueError, RuntimeError), "shape"),
    ]:
        with pytest.raises(kind, match=text):
            t[key]
        with pytest.raises(kind, match=text):
            t[key] = 1
    with pytest.raises(TypeError, match="a tensor is made from numbers, not from dict"):
        t[0] = {}
    with pytest.raises(TypeError, match="cannot be deleted"):
        del t[0]


def test_views_share_their_bytes(aten: Any) -> None:
    """Protects the fast path: an index without an index tensor makes no copy, and writes are counted."""
    t = aten.zeros(3, 4)
    view = t[1:, None, ::2]
    before = t._version
    view[0] = 5
    assert t[1].tolist() == [5, 0, 5, 0] and t._version == before + 1
    t[[0]] = 1
    assert t._version == before + 2
    assert t[...].data_ptr() == t.data_ptr() and t[...] is not t


class Does:
    """An integer whose __index__ does something before it returns 1."""

    def __init__(self, act: Any) -> None:
        self.act = act

    def __index__(self) -> int:
        self.act()
        return 1


def test_an_index_that_changes_the_indexed_tensor(aten: Any) -> None:
    """Protects memory: all numbers of a key are read before the first one is applied."""

    def resizes(tensor: Any, *sizes: int) -> Does:
        return Does(lambda: tensor.resize_(sizes))

    a = aten.zeros(4, 4)
    with pytest.raises(IndexError):
        a[resizes(a), 0]
    a = aten.zeros(4, 4)
    with pytest.raises(IndexError):
        a[3, resizes(a, 2, 2)]
    a = aten.zeros(2, 2)
    assert a[resizes(a, 5, 6)].shape == (6,)
    a = aten.zeros(4, 4)
    assert a[0, : resizes(a, 2, 3)].shape == (1,)
    a = aten.zeros(4, 4)
    with pytest.raises(IndexError):
        a[3, resizes(a, 2, 2)] = 1
    a = aten.zeros(4, 4)
    assert a.size(resizes(a, 7, 8)) == 8
    a = aten.zeros(4, 4)
    assert a.stride(resizes(a, 7, 8)) == 1


def test_an_index_list_that_changes_itself(aten: Any) -> None:
    """Protects memory: the contents of a list of integers when it is read count."""
    places: list[Any] = []
    places[:] = [Does(places.clear), 2]
    assert aten.arange(9)[places].tolist() == [1, 2]
    values: list[Any] = []
    values[:] = [Does(values.clear), 2, 3]
    a = aten.zeros(3)
    a[:] = values
    assert a.tolist() == [1, 2, 3]
