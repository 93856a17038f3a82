"""Findings of the hunts, each as the call that showed it."""

from __future__ import annotations

import ctypes
from types import ModuleType

import pytest

from support.library import WHOLE, own_package


@pytest.fixture(scope="module")
def m() -> ModuleType:
    return own_package()


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    ("row", "col", "offset", "count"),
    [
        (1, 3, 2**63 - 1, 3),  # The last column overflowed, and the result was empty.
        (3, 3, 2**62, 9),
        (2, 3, -(2**63), 0),
        (2**60, 0, 0, 0),  # Every row was visited.
        (2**60, 3, -(2**60) + 2, 3),
        (4, 3, -1, 6),
        (3, 5, 1, 9),
        (5, 2, 0, 9),
        (0, 5, 3, 0),
    ],
)
def test_tril_indices_of_distant_diagonals(
    m: ModuleType, row: int, col: int, offset: int, count: int
) -> None:
    found = m.tril_indices(row, col, offset)
    assert tuple(found.shape) == (2, count)
    if row < 10:
        assert list(zip(*found.tolist())) == [
            (i, j) for i in range(row) for j in range(col) if j <= i + offset
        ]


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    ("row", "col", "offset"), [(2**60, 1, 3), (2**62, 2**62, 0), (2**63 - 1,) * 3]
)
def test_tril_indices_that_no_memory_holds(m: ModuleType, row: int, col: int, offset: int) -> None:
    """The rows used to be counted one by one, which would have taken years."""
    with pytest.raises(RuntimeError, match=r"more indices than fit in memory|cannot allocate"):
        m.tril_indices(row, col, offset)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (([1, 0], "int64"), ([1.0, 0.0], "float32"), True),
        (([True, False], "bool"), ([2, 0], "int16"), False),
        (([256], "int16"), ([0], "uint8"), False),
        (([0.1], "float32"), ([0.1], "float64"), False),
        (([1.0], "float32"), ([1 + 0j], "complex64"), True),
        (([1.0], "float32"), ([1.0, 2.0], "float64"), False),
    ],
)
def test_equal_of_two_dtypes(
    m: ModuleType, one: tuple[list[object], str], other: tuple[list[object], str], same: bool
) -> None:
    """This used to be rejected; PyTorch compares after promotion to a common dtype."""
    a, b = (m.tensor(data, dtype=dtype) for data, dtype in (one, other))
    assert m.equal(a, b) is same


@pytest.mark.parametrize(
    "call", ["split(t, 4)", "unbind(t)", pytest.param("chunk(t, 2**62)", marks=WHOLE)]
)
def test_more_parts_than_any_memory_holds(m: ModuleType, call: str) -> None:
    """Protects the machine's memory: an expanded tensor can have any size, and its parts used to be made one by
    one."""
    with pytest.raises((MemoryError, RuntimeError)):
        eval(f"m.{call}", {"m": m, "t": m.ones(1).expand(2**62)})


def test_an_empty_tensor_with_huge_strides_is_a_list(m: ModuleType) -> None:
    """Protects `tolist()` and iterators: a stride in bytes used to overflow."""
    t = m.ones(8).as_strided((2, 0, 3), (2**62, 2**62, 1), 4)
    assert t.tolist() == [[], []]
    t += 1
    assert (t + t).tolist() == [[], []]


@pytest.mark.slow
@pytest.mark.whole_library
def test_an_index_without_dimensions_needs_a_source(m: ModuleType) -> None:
    """Protects memory: `scatter` used to read an element of a source that has none."""
    for name in ("scatter", "scatter_add"):
        with pytest.raises(RuntimeError, match="Expected index"):
            getattr(m, name)(m.zeros(2), 0, m.tensor(0), m.zeros(0))


def test_a_byte_other_than_0_and_1_is_true(m: ModuleType) -> None:
    """Protects `tolist()` of memory that others wrote: the sanitizer reports such a read as undefined behaviour."""
    t = m.empty(2, dtype=m.bool)
    ctypes.memmove(t.data_ptr(), b"\x00\x07", 2)
    assert t.tolist() == [False, True]
