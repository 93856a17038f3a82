"""Calls of every function of the array API standard, as data: the same for each library that is compared.

Arrays are NumPy's, and dtypes are names. `run()` converts them for a namespace.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMERIC = INTEGERS + FLOATS + COMPLEX
DTYPES = ("bool", *NUMERIC)
# Pairs of different dtypes that the standard promotes.
MIXED = (
    ("int8", "int16"),
    ("int64", "int32"),
    ("uint8", "int8"),
    ("int32", "uint8"),
    ("float32", "float64"),
    ("complex64", "float64"),
    ("float32", "complex64"),
    ("complex128", "complex64"),
)


@dataclass(frozen=True)
class Dtype:
    """A dtype as an argument."""

    name: str


@dataclass(frozen=True)
class Call:
    """A call of the function `name` of a namespace."""

    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [
            *map(_text, self.arguments),
            *(f"{k}={_text(v)}" for k, v in self.keywords.items()),
        ]
        return f"{self.name}({', '.join(given)})"

    def run(self, namespace: Any) -> Any:
        """Return what the function of a namespace returns."""
        given = [_converted(one, namespace) for one in self.arguments]
        keywords = {name: _converted(one, namespace) for name, one in self.keywords.items()}
        return getattr(namespace, self.name)(*given, **keywords)


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = str(value.tolist())
        return f"{value.dtype}{list(value.shape)} {shown if len(shown) < 100 else ''}".strip()
    if isinstance(value, (list, tuple)) and any(isinstance(one, np.ndarray) for one in value):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)


def _converted(value: Any, namespace: Any) -> Any:
    if isinstance(value, np.ndarray):
        return namespace.asarray(value.copy())
    if isinstance(value, Dtype):
        return getattr(namespace, value.name)
    if isinstance(value, list):
        return [_converted(one, namespace) for one in value]
    return value


def elements(dtype: str) -> list[Any]:
    """Return numbers of a dtype: the special ones, and some on both sides of zero."""
    if dtype == "bool":
        return [False, True]
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return [
            0,
            1,
            2,
            3,
            5,
            17,
            100,
            limits.max,
            *([-1, -2, -7, limits.min] if limits.min else []),
        ]
    reals = [0.0, -0.0, 0.25, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 3.0, 7.75, -20.0, 1e-3]
    if dtype in COMPLEX:
        return [
            complex(a, b) for a, b in itertools.product((0.5, -1.5, 0.0, 2.0), (0.0, 1.0, -0.25))
        ]
    return [*reals, float("inf"), float("-inf"), float("nan"), float(np.finfo(dtype).tiny)]


def filled(dtype: str, shape: tuple[int, ...], start: int = 0) -> np.ndarray[Any, Any]:
    """Return an array of the numbers of `elements()`, one after the other from number `start` on."""
    values = elements(dtype)
    count = int(np.prod(shape, dtype=int))
    return np.array(
        [values[(start + 5 * i) % len(values)] for i in range(count)], dtype=dtype
    ).reshape(shape)


def small(dtype: str, shape: tuple[int, ...], start: int = 1) -> np.ndarray[Any, Any]:
    """Return an array of small finite numbers, of which sums and products are exact enough."""
    count = int(np.prod(shape, dtype=int))
    numbers = [(start + 3 * i) % 5 for i in range(count)]
    if dtype in COMPLEX:
        return np.array([complex(n, 1 - n) for n in numbers], dtype=dtype).reshape(shape)
    return np.array(numbers, dtype=dtype).reshape(shape)


def unary_calls(names: Sequence[str]) -> Iterator[Call]:
    """Yield calls of functions of one array: all dtypes and numbers, shapes without and with few elements."""
    for name, dtype in itertools.product(names, DTYPES):
        yield Call(name, (np.array(elements(dtype), dtype=dtype),))
        for shape in ((), (0,), (2, 0, 3), (3, 4)):
            yield Call(name, (filled(dtype, shape, start=3),))
        yield Call(name, (filled(dtype, (4, 6))[::2, ::3],))


def binary_calls(names: Sequence[str]) -> Iterator[Call]:
    """Yield calls of functions of two arrays: all pairs of numbers, shapes that broadcast, mixed dtypes, and numbers."""
    for name in names:
        for dtype in DTYPES:
            values = np.array(elements(dtype), dtype=dtype)
            yield Call(name, (values[:, None], _second(name, values)))
            for shapes in (((), ()), ((0,), ()), ((3, 1), (4,)), ((2, 0, 3), (1, 3)), ((), (2, 2))):
                first, second = (filled(dtype, shape, start=i) for i, shape in enumerate(shapes))
                yield Call(name, (first, _second(name, second)))
            array = _second(name, filled(dtype, (5,), start=1))
            for number in _numbers(dtype):
                yield Call(name, (array, number))
                yield Call(name, (number, array))
        for one, other in MIXED:
            first = filled(one, (3,))
            for second in (filled(other, (3,), start=1), filled(other, (), start=2)):
                yield Call(name, (first, _second(name, second)))


def _numbers(dtype: str) -> tuple[Any, ...]:
    if dtype == "bool":
        return (True,)
    return (2,) if dtype in INTEGERS else (2, 1.5)


def _second(name: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the second operand, without those for which the standard defines no result."""
    if array.dtype.kind not in "iu":
        return array
    if name in ("floor_divide", "remainder"):
        return np.where(array == 0, np.array(3, array.dtype), array)
    if name.endswith("_shift"):
        return (array % 7).astype(array.dtype)
    return (array % 4).astype(array.dtype) if name == "pow" else array


_AXES = (None, 0, -1, (0,), (0, 2), (1, -1), (0, 1, 2))


def reduction_calls() -> Iterator[Call]:
    for name in ("sum", "prod", "max", "min", "mean", "std", "var", "all", "any", "count_nonzero"):
        for dtype, axis, keepdims in itertools.product(DTYPES, _AXES, (False, True)):
            given = {"axis": axis, "keepdims": keepdims}
            yield Call(name, (small(dtype, (2, 3, 2)),), given)
        for dtype in DTYPES:
            yield Call(name, (small(dtype, ()),))
            yield Call(name, (small(dtype, (1,)),), {"axis": 0})
            yield Call(name, (filled(dtype, (3, 5)),), {"axis": 1})
    for name, axis in itertools.product(
        ("sum", "prod", "all", "any", "count_nonzero"), (None, 0, 1)
    ):
        for dtype in DTYPES:
            yield Call(name, (small(dtype, (0, 3)),), {"axis": axis})
    for name, dtype in itertools.product(("sum", "prod"), ("int16", "int64", "float64")):
        yield Call(name, (small("int8", (2, 3)),), {"dtype": Dtype(dtype)})
    for name, correction in itertools.product(("std", "var"), (0, 1, 0.5)):
        yield Call(name, (small("float64", (3, 4)),), {"axis": 1, "correction": correction})
    for name, dtype in itertools.product(("argmax", "argmin"), INTEGERS + FLOATS):
        for axis, keepdims in itertools.product((None, 0, -1), (False, True)):
            given = {"axis": axis, "keepdims": keepdims}
            yield Call(name, (small(dtype, (3, 4)),), given)
        yield Call(name, (small(dtype, ()),))


def cumulative_calls() -> Iterator[Call]:
    for name, dtype in itertools.product(("cumulative_sum", "cumulative_prod"), DTYPES):
        yield Call(name, (small(dtype, (6,)),))
        yield Call(name, (small(dtype, (0,)),))
        for axis, initial in itertools.product((0, -1), (False, True)):
            given = {"axis": axis, "include_initial": initial}
            yield Call(name, (small(dtype, (3, 4)),), given)
        for result in ("float64", "int16"):
            yield Call(name, (small(dtype, (3,)),), {"dtype": Dtype(result)})
    for dtype in NUMERIC:
        x = small(dtype, (3, 4))
        for axis, n in itertools.product((0, -1), (0, 1, 2)):
            yield Call("diff", (x,), {"axis": axis, "n": n})
        yield Call("diff", (x,), {"prepend": x[:, :2], "append": x[:, :1]})


def creation_calls() -> Iterator[Call]:
    # Each library has its own default dtypes.
    for dtype in map(Dtype, DTYPES):
        given = {"dtype": dtype}
        for name, shape in itertools.product(("zeros", "ones"), (3, (), (0,), (2, 3))):
            yield Call(name, (shape,), given)
        for k, columns in itertools.product((-4, -1, 0, 2), (None, 2, 4)):
            yield Call("eye", (3, columns), {"k": k, **given})
        for name in ("zeros_like", "ones_like"):
            yield Call(name, (small("int16", (2, 3)),), given)
        yield Call("full", ((2, 3), True), given)
        yield Call("full", ((2,), 1), given)
        yield Call("full_like", (small("int16", (2, 3)), 1), given)
        yield Call("asarray", ([[0, 1], [1, 0]],), given)
        yield Call("asarray", (1,), given)
    for dtype in map(Dtype, COMPLEX):
        yield Call("full", ((2,), 1 + 2j), {"dtype": dtype})
        yield Call("linspace", (1 + 1j, 2 - 3j, 5), {"dtype": dtype})
        yield Call("asarray", ([[1j, 2]],), {"dtype": dtype})
    for value in (True, 3, [[True], [False]], [1, True]):
        yield Call("asarray", (value,))
        yield Call("full", ((2,), value))
    for limits in ((4,), (0,), (-3,), (1, 4), (4, 1), (4, 1, -1), (0, 10, 3), (5, 0, -2)):
        yield Call("arange", limits)
    yield Call("arange", (0.0, 1.0, 0.25), {"dtype": Dtype("float64")})
    for dtype in ("int16", "float32", "float64"):
        yield Call("arange", (2, 9, 2), {"dtype": Dtype(dtype)})
    for (start, stop), num in itertools.product(((0, 1), (-2.5, 7), (3, 3), (7, 1)), (0, 1, 2, 7)):
        for endpoint in (True, False):
            for dtype in ("float32", "float64"):
                given = {"endpoint": endpoint, "dtype": Dtype(dtype)}
                yield Call("linspace", (start, stop, num), given)
    for name, dtype, k in itertools.product(("tril", "triu"), DTYPES, (-5, -1, 0, 1, 4)):
        yield Call(name, (small(dtype, (2, 3, 4)),), {"k": k})
    lines = [small("int32", (n,)) for n in (2, 3, 4)]
    for count, indexing in itertools.product((0, 1, 2, 3), ("xy", "ij")):
        yield Call("meshgrid", tuple(lines[:count]), {"indexing": indexing})


def manipulation_calls() -> Iterator[Call]:
    for dtype in DTYPES:
        x = small(dtype, (2, 3, 4))
        y = small(dtype, (2, 1, 4), start=2)
        yield Call("broadcast_arrays", (x, small(dtype, (4,)), small(dtype, (3, 1))))
        yield Call("broadcast_to", (small(dtype, (3, 1)), (2, 3, 4)))
        yield Call("concat", ([x, y, x],), {"axis": 1})
        yield Call("concat", ([x, small(dtype, (3,)), small(dtype, ())],), {"axis": None})
        yield Call("stack", ([x, x],), {"axis": -1})
        for axis in (0, 1, -1, 3):
            yield Call("expand_dims", (x,), {"axis": axis})
        for axis in (None, 0, (0, 2), -1):
            yield Call("flip", (x,), {"axis": axis})
        yield Call("moveaxis", (x, 0, -1))
        yield Call("moveaxis", (x, (0, 1), (2, 0)))
        yield Call("permute_dims", (x, (2, 0, 1)))
        for shape, copy in itertools.product(((-1,), (4, 6), (2, 1, 12)), (None, True)):
            yield Call("reshape", (x, shape), {"copy": copy})
        for shift, axis in ((1, None), (-5, None), (2, 1), ((1, 2), (0, 2)), (1, (0, 1))):
            yield Call("roll", (x, shift), {"axis": axis})
        yield Call("squeeze", (y, 1))
        yield Call("squeeze", (small(dtype, (1, 2, 1)), (0, 2)))
        for repetitions in ((2,), (1, 2, 1), (2, 1, 1, 3), ()):
            yield Call("tile", (x, repetitions))
        for axis in (0, 1, -1):
            yield Call("unstack", (x,), {"axis": axis})
            yield Call("repeat", (x, 2), {"axis": axis})
        yield Call("repeat", (x, 3))
        yield Call("repeat", (x, np.array([2, 0, 1])), {"axis": 1})
        indices = np.array([1, 0, 1, 1])
        yield Call("take", (x, indices), {"axis": 2})
        yield Call("take", (small(dtype, (5,)), indices))
        yield Call("take_along_axis", (x, np.array([[[0, 3]], [[2, 2]]])), {"axis": -1})
    for one, other in MIXED:
        for name in ("concat", "stack"):
            yield Call(name, ([small(one, (3,)), small(other, (3,))],))
    for shapes in (((2, 1), (3,)), ((), (4, 1)), ((0, 1), (1, 5))):
        yield Call("broadcast_shapes", shapes)


def searching_calls() -> Iterator[Call]:
    for dtype in DTYPES:
        x = small(dtype, (3, 4))
        yield Call("nonzero", (x,))
        for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
            for shape in ((7,), (3, 4), (0,), ()):
                yield Call(name, (small(dtype, shape),))
        condition = np.array([[True], [False], [True]])
        yield Call("where", (condition, x, small(dtype, (4,), start=3)))
        for number in _numbers(dtype):
            yield Call("where", (condition, x, number))
            yield Call("where", (condition, number, x))
    for dtype in INTEGERS + FLOATS:
        x = small(dtype, (3, 7))
        for name, axis, descending in itertools.product(
            ("sort", "argsort"), (0, -1), (False, True)
        ):
            yield Call(name, (x,), {"axis": axis, "descending": descending})
        row = np.sort(small(dtype, (9,)))
        for side in ("left", "right"):
            yield Call("searchsorted", (row, small(dtype, (2, 5))), {"side": side})
            yield Call("searchsorted", (row[:0], small(dtype, (2,))), {"side": side})
        yield Call("searchsorted", (row[::-1].copy(), row), {"sorter": np.arange(8, -1, -1)})
        for low, high in ((1, 3), (None, 2), (2, None), (None, None)):
            yield Call("clip", (x, low, high))
        yield Call("clip", (x, small(dtype, (7,), start=2) // 2, 3))
    for one, other in MIXED:
        yield Call("where", (np.array([True, False]), small(one, (2,)), small(other, ())))


def product_calls() -> Iterator[Call]:
    for dtype in NUMERIC:
        for first, second in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4))):
            yield Call("matmul", (small(dtype, first), small(dtype, second)))
        yield Call("matmul", (small(dtype, (5, 1, 2, 3)), small(dtype, (4, 3, 2))))
        yield Call("matrix_transpose", (small(dtype, (2, 3, 4)),))
        x, y = small(dtype, (2, 3, 4)), small(dtype, (3, 4, 5))
        yield Call("tensordot", (x, y))
        yield Call("tensordot", (x, y), {"axes": 0})
        yield Call("tensordot", (x, small(dtype, (4, 5))), {"axes": 1})
        yield Call("tensordot", (x, small(dtype, (5, 4, 2))), {"axes": ((0, 2), (2, 1))})
        yield Call("vecdot", (small(dtype, (2, 3)), small(dtype, (3,), start=2)))
        yield Call("vecdot", (small(dtype, (3, 2)), small(dtype, (3, 1))), {"axis": -2})
    for one, other in MIXED:
        yield Call("matmul", (small(one, (2, 3)), small(other, (3, 2))))
        yield Call("vecdot", (small(one, (3,)), small(other, (3,))))


def dtype_calls() -> Iterator[Call]:
    for one, other in itertools.product(DTYPES, DTYPES):
        if np.dtype(one).kind == np.dtype(other).kind:
            yield Call("can_cast", (Dtype(one), Dtype(other)))
        yield Call("result_type", (Dtype(one), Dtype(other)))
        yield Call("result_type", (small(one, (2,)), small(other, ())))
        if (one in COMPLEX) <= (other in COMPLEX):
            yield Call("astype", (small(one, (2, 3)), Dtype(other)))
    for one, number in itertools.product(DTYPES, (True, 1, 1.5, 1j)):
        yield Call("result_type", (Dtype(one), number))
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating")
    for one, kind in itertools.product(DTYPES, (*kinds, "complex floating", "numeric")):
        yield Call("isdtype", (Dtype(one), kind))
        yield Call("isdtype", (Dtype(one), (kind, "bool")))


def all_calls(unary: Sequence[str], binary: Sequence[str]) -> Iterator[Call]:
    """Yield all calls. `unary` and `binary` are the functions of one array and of two."""
    yield from unary_calls(unary)
    yield from binary_calls(binary)
    yield from reduction_calls()
    yield from cumulative_calls()
    yield from creation_calls()
    yield from manipulation_calls()
    yield from searching_calls()
    yield from product_calls()
    yield from dtype_calls()
