"""Which tests run by default, and which are slow.

Tests of operators run by default on the slice of our library, with its operators. The slow tests repeat them for all
operators, on the whole library, which is compiled with optimisation. Of tests with several parameters, each value runs by
default, and the other combinations are slow.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import pytest

from support.library import SAMPLED, WHOLE, own_registry, slice_names

# What Python's operators call. A power of 2 is a size.
_SYMBOLS = {
    "**": "pow",
    "/": "div",
    "%": "remainder",
    "@": "matmul",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "~": "bitwise_not",
    ">": "gt",
    "<": "lt",
    ">=": "ge",
    "<=": "le",
    "!=": "ne",
    "==": "eq",
    " in ": "any",
    "abs(": "abs",
    "round(": "round",
}
_SIZE = re.compile(r"\b2\*\*\d+")

# For a test that runs on the slice and, slowly, on the whole library. Its argument `part` is the name of one of them.
on_both = pytest.mark.parametrize("part", ["slice", pytest.param("whole", marks=WHOLE)])


def of_expressions(expressions: Iterable[str]) -> pytest.MarkDecorator:
    """As `each`, for Python expressions: those run on the slice that call its operators alone."""
    return _each("expression", expressions, calls_the_slice)


def calls_the_slice(expression: str) -> bool:
    """Return whether all overloads of the operators that an expression calls by name are in the slice."""
    called = set(re.findall(r"\.(\w+)\(", expression)) & _overloads().keys()
    text = _SIZE.sub("", expression)
    called |= {name for symbol, name in _SYMBOLS.items() if symbol in text}
    return all(_overloads()[name] <= slice_names() for name in called)


@functools.cache
def _overloads() -> Mapping[str, frozenset[str]]:
    """The names of the functional and in-place overloads of each operator, by its name."""
    found: dict[str, set[str]] = {}
    for f in own_registry().functions:
        if not f.func.is_out_fn():
            found.setdefault(str(f.func.name.name), set()).add(str(f.func.name))
    return {name: frozenset(overloads) for name, overloads in found.items()}


def selected(names: Iterable[str]) -> list[str]:
    """Return those of the operators that are in the slice."""
    return [name for name in names if name in slice_names()]


def each(argument: str, names: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test for a sample of the operators `names` on the whole library, and for those of the slice on the slice.

    `part` is "slice" or "whole".
    """
    return _each(argument, names, lambda name: name in slice_names())


def each_function(argument: str, names: Iterable[str]) -> pytest.MarkDecorator:
    """As `each`, for names of Python functions: those run on the slice that call its operators alone."""
    return _each(argument, names, lambda name: calls_the_slice(f".{name}("))


def _each(
    argument: str, values: Iterable[str], is_in_slice: Callable[[str], bool]
) -> pytest.MarkDecorator:
    values = tuple(values)
    few = [pytest.param(value, "slice") for value in values if is_in_slice(value)]
    every = [pytest.param(value, "whole", marks=SAMPLED) for value in values]
    return pytest.mark.parametrize((argument, "part"), [*few, *every])


def each_once(*axes: Iterable[Any]) -> list[Any]:
    """Return all combinations of the values of several parameters, for `pytest.mark.parametrize`.

    The first of them, in which each value stands once, run by default; all others are slow. A value may be a tuple for
    several parameters.
    """
    values = [tuple(axis) for axis in axes]
    few = {tuple(i % len(axis) for axis in values) for i in range(max(map(len, values)))}
    return [
        pytest.param(
            *_flat(axis[i] for axis, i in zip(values, places)),
            marks=() if places in few else pytest.mark.slow,
        )
        for places in product(*(range(len(axis)) for axis in values))
    ]


def some(values: Iterable[Any], step: int) -> list[Any]:
    """Return parameters of which each `step`-th runs by default, from the first on; the others are slow."""
    return [
        pytest.param(*_flat([value]), marks=() if i % step == 0 else pytest.mark.slow)
        for i, value in enumerate(values)
    ]


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        yield from value if isinstance(value, tuple) else (value,)
