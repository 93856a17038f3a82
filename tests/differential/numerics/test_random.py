"""Random operators: equal seeds give equal numbers, different seeds different ones; range and moments fit the
distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pytest

from differential.numerics.driver import Library, OperatorError, TensorResult
from differential.numerics.values import (
    BY_NAME,
    GeneratorValue,
    TensorValue,
    Value,
    contiguous_strides,
)
from support.library import WHOLE, slice_names
from support.selection import on_both

COUNT = 20_000
FLOATING = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")


def zeros(dtype: str, sizes: tuple[int, ...] = (COUNT,)) -> TensorValue:
    made = BY_NAME[dtype]
    count = int(np.prod(sizes))
    return TensorValue(made, sizes, contiguous_strides(sizes), 0, bytes(count * made.itemsize))


def halves(dtype: str) -> TensorValue:
    """COUNT times the number 0.5."""
    bits = {"float16": np.uint16(0x3800), "bfloat16": np.uint16(0x3F00)}.get(dtype)
    carrier = BY_NAME[dtype].carrier
    array = np.full(COUNT, 0.5, carrier) if bits is None else np.full(COUNT, bits).view(carrier)
    return TensorValue(BY_NAME[dtype], (COUNT,), (1,), 0, array.tobytes())


# Operator, the dtypes it fills, its arguments for a dtype without the generator, (mean, deviation),
# (smallest, largest).
Case: TypeAlias = tuple[str, tuple[str, ...], Any, tuple[float, float], tuple[float, float]]
CASES: tuple[Case, ...] = (
    (
        "uniform_",
        FLOATING,
        lambda d: {"self": zeros(d), "from": -1.0, "to": 3.0},
        (1, 4 / 12**0.5),
        (-1, 3),
    ),
    ("uniform", FLOATING, lambda d: {"self": zeros(d)}, (0.5, 1 / 12**0.5), (0, 1)),
    (
        "rand.generator",
        FLOATING,
        lambda d: {"size": (COUNT,), "dtype": BY_NAME[d]},
        (0.5, 1 / 12**0.5),
        (0, 1),
    ),
    ("normal_", FLOATING, lambda d: {"self": zeros(d), "mean": 2.0, "std": 3.0}, (2, 3), (-20, 24)),
    ("normal_functional", FLOATING, lambda d: {"self": zeros(d)}, (0, 1), (-7, 7)),
    (
        "randn.generator",
        FLOATING,
        lambda d: {"size": (COUNT,), "dtype": BY_NAME[d]},
        (0, 1),
        (-7, 7),
    ),
    (
        "randint.low_generator",
        (*INTEGERS, "float32"),
        lambda d: {"low": 3, "high": 13, "size": (COUNT,), "dtype": BY_NAME[d]},
        (7.5, (99 / 12) ** 0.5),
        (3, 12),
    ),
    (
        "randint.generator",
        INTEGERS,
        lambda d: {"high": 2, "size": (COUNT,), "dtype": BY_NAME[d]},
        (0.5, 0.5),
        (0, 1),
    ),
    ("bernoulli", FLOATING, lambda d: {"self": halves(d)}, (0.5, 0.5), (0, 1)),
    (
        "bernoulli.p",
        (*FLOATING, *INTEGERS),
        lambda d: {"self": zeros(d), "p": 0.25},
        (0.25, 0.1875**0.5),
        (0, 1),
    ),
    (
        "bernoulli_.float",
        FLOATING,
        lambda d: {"self": zeros(d), "p": 0.75},
        (0.75, 0.1875**0.5),
        (0, 1),
    ),
)


def draw(library: Library, name: str, arguments: Mapping[str, Value], seed: int | None) -> Any:
    given = dict(arguments)
    if seed is not None:
        given["generator"] = GeneratorValue(seed)
    results = library.call(f"aten::{name}", given)
    assert isinstance(results[0], TensorResult)
    return results[0].array()


each_case = pytest.mark.parametrize(
    ("case", "part"),
    [
        *(pytest.param(c, "slice", id=f"{c[0]}-slice") for c in CASES if c[0] in slice_names()),
        *(pytest.param(c, "whole", id=f"{c[0]}-whole", marks=WHOLE) for c in CASES),
    ],
)


@each_case
def test_distribution(case: Case, library: Library) -> None:
    name, dtypes, arguments, moments, limits = case
    for dtype in dtypes:
        numbers = draw(library, name, arguments(dtype), 7).astype(np.float64)
        mean, deviation = moments
        # Five standard errors, and the rounding of the dtype.
        slack = 5 * deviation / COUNT**0.5 + (0.02 if dtype in ("float16", "bfloat16") else 0)
        assert abs(numbers.mean() - mean) < slack, (dtype, numbers.mean())
        assert abs(numbers.std() - deviation) < 2 * slack, (dtype, numbers.std())
        assert numbers.min() >= limits[0] and numbers.max() <= limits[1], dtype
        assert len(np.unique(numbers)) > 1


@each_case
def test_equal_seeds_give_equal_numbers(case: Case, library: Library) -> None:
    name, dtypes, arguments, _, _ = case
    for dtype in dtypes:
        first = draw(library, name, arguments(dtype), 11)
        assert first.tobytes() == draw(library, name, arguments(dtype), 11).tobytes(), dtype
        assert first.tobytes() != draw(library, name, arguments(dtype), 12).tobytes(), dtype


def test_a_generator_continues(library: Library) -> None:
    generator = library.make(GeneratorValue(3))
    first, second = (
        library.call("aten::rand.generator", {"size": (8,), "generator": generator})[0].array()
        for _ in range(2)
    )
    assert first.tobytes() != second.tobytes()


@on_both
@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_randperm_is_a_permutation(n: int, library: Library) -> None:
    arguments = {"n": n, "generator": GeneratorValue(1)}
    (made,) = library.call("aten::randperm.generator", arguments)
    assert sorted(made.array().tolist()) == list(range(n))


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout_scales_kept_elements(p: float, library: Library) -> None:
    ones = TensorValue(BY_NAME["float32"], (COUNT,), (1,), 0, np.ones(COUNT, np.float32).tobytes())
    out, mask = library.call("aten::native_dropout", {"input": ones, "p": p, "train": True})
    kept = mask.array().astype(bool)
    assert abs(kept.mean() - (1 - p)) < 0.02
    expected = np.where(kept, 1 / (1 - p) if p < 1 else 0, 0)
    assert np.allclose(out.array(), expected)
    (same,) = library.call("aten::dropout", {"input": ones, "p": p, "train": False})
    assert (same.array() == 1).all()


@pytest.mark.slow
@pytest.mark.whole_library
def test_out_of_range_is_rejected(library: Library) -> None:
    for name, arguments in {
        "uniform_": {"self": zeros("float32", (3,)), "from": 2.0, "to": 1.0},
        "normal_": {"self": zeros("float32", (3,)), "std": -1.0},
        "bernoulli_.float": {"self": zeros("float32", (3,)), "p": 1.5},
        "randint": {"high": 0, "size": (3,)},
    }.items():
        with pytest.raises(OperatorError):
            library.call(f"aten::{name}", arguments)
