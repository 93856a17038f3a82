"""Operators give the same bits on any number of threads, and in every run."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from differential.numerics.driver import Library, TensorResult
from differential.numerics.values import Array, Value
from support.library import WHOLE, own_operators

THREADS = (2, 3, 7)
# The operator, its arguments other than the tensor, and the kind of its argument `dim`: any dimensions, one, or none.
REDUCTIONS: tuple[tuple[str, dict[str, Value], str | None], ...] = (
    ("sum.dim_IntList", {}, "dim"),
    ("sum", {}, None),
    ("mean.dim", {}, "dim"),
    ("prod", {}, None),
    ("prod.dim_int", {}, "one"),
    ("amax", {}, "dim"),
    ("amin", {}, "dim"),
    ("any", {}, None),
    ("all.dim", {}, "one"),
    ("var.correction", {"correction": 1}, "dim"),
    ("std.correction", {"correction": 0}, "dim"),
    ("linalg_vector_norm", {"ord": 2}, "dim"),
    ("linalg_vector_norm", {"ord": 3}, "dim"),
    ("argmax", {}, "one"),
    ("cumsum", {}, "one"),
)
# Operators of the slice that add up in two different ways.
_ON_THE_SLICE = ("sum.dim_IntList", "cumsum")


def _set_threads(count: int) -> None:
    """Call opgen::set_num_threads(int), which the C interface does not have."""
    runtime = ctypes.CDLL(str(own_operators().runtime))
    runtime["_ZN5opgen15set_num_threadsEi"](count)


@pytest.fixture
def one_thread_after() -> Iterator[None]:
    yield
    _set_threads(1)


def _inputs() -> list[Array]:
    """Return inputs longer than one thread's share, of odd sizes, in several layouts; their sums depend on the
    order."""
    random = np.random.default_rng(7)
    numbers = random.uniform(-1, 1, 70 * 131 * 33) * 2.0 ** random.integers(-12, 12, 70 * 131 * 33)
    flat = numbers.astype(np.float32)
    cube = flat.reshape(70, 131, 33)
    return [flat, flat[1::2], cube, cube.transpose(2, 0, 1), cube[:, ::2, 1:], cube.astype("f2")]


def _bits(library: Library, name: str, arguments: dict[str, Value]) -> bytes:
    (result,) = library.call(f"aten::{name}", arguments)
    assert isinstance(result, TensorResult)
    return result.array().tobytes()


@pytest.mark.parametrize(
    ("name", "given", "kind", "inputs"),
    [
        # Inputs that are not contiguous, or do not fit a vector.
        *((*each, slice(1, None, 3)) for each in REDUCTIONS if each[0] in _ON_THE_SLICE),
        *(pytest.param(*each, slice(None), marks=WHOLE) for each in REDUCTIONS),
    ],
)
@pytest.mark.usefixtures("one_thread_after")
def test_the_bits_do_not_depend_on_threads(
    name: str, given: dict[str, Value], kind: str | None, inputs: slice, library: Library
) -> None:
    """Protects results that a colleague with more cores must be able to reproduce."""
    for array in _inputs()[inputs]:
        dims: list[dict[str, Value]] = [{}]
        if kind == "one":
            dims = [{"dim": d} for d in range(array.ndim)]
        elif kind == "dim":
            every = range(array.ndim)
            dims = [
                {"dim": list(chosen)}
                for count in range(1, array.ndim + 1)
                for chosen in itertools.combinations(every, count)
            ]
        for dim in dims:
            arguments: dict[str, Value] = {"self": array, **given, **dim}
            _set_threads(1)
            alone = _bits(library, name, arguments)
            assert alone == _bits(library, name, arguments), f"{dim}: another run, other bits"
            for threads in THREADS:
                _set_threads(threads)
                many = _bits(library, name, arguments)
                assert many == alone, f"{array.shape} {dim}: other bits on {threads} threads"


@pytest.mark.parametrize("name", [pytest.param(each, marks=WHOLE) for each in ("nonzero", "triu")])
@pytest.mark.usefixtures("one_thread_after")
def test_threads_write_their_parts_in_place(name: str, library: Library) -> None:
    """Each part of nonzero begins behind those before it, and triu divides the rows of one matrix."""
    for array in _inputs():
        if name == "triu" and array.ndim == 1:
            array = array.reshape(131, -1)
        arguments: dict[str, Value] = {"self": array > 0 if name == "nonzero" else array}
        _set_threads(1)
        alone = _bits(library, name, arguments)
        for threads in THREADS:
            _set_threads(threads)
            many = _bits(library, name, arguments)
            assert many == alone, f"{array.shape}: another result on {threads} threads"
