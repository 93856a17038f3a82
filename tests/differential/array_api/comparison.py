"""Compares what a namespace returns for a call with what array-api-strict returns."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from differential.array_api.calls import Call

# Functions that may return either of two zeros of different signs.
_ANY_ZERO = {"maximum", "minimum", "max", "min", "clip"}
# Names of array-api-strict that are not functions of version 2024.12 of the standard.
_NOT_STANDARD = {
    "ArrayAPIStrictFlags",
    "Device",
    "__array_namespace_info__",
    "get_array_api_strict_flags",
    "isin",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}


def standard_functions(strict: Any) -> Iterator[tuple[str, inspect.Signature]]:
    """Yield the functions of the standard, with their signatures."""
    for name in sorted(strict.__all__):
        found = getattr(strict, name)
        if inspect.isfunction(found) and name not in _NOT_STANDARD:
            yield name, inspect.signature(found)


def functions_of(strict: Any, parameters: list[str]) -> list[str]:
    """Return the functions of the standard with these parameters."""
    return [name for name, one in standard_functions(strict) if [*one.parameters] == parameters]


def difference(call: Call, namespace: Any, strict: Any) -> str | None:
    """Return how the result of a call differs from the one of array-api-strict; None if it does not.

    A call that array-api-strict rejects is not one of the standard.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = call.run(strict)
        except Exception:
            return None
    try:
        found = call.run(namespace)
    except Exception as error:
        return f"{call}: {type(error).__name__}: {str(error).splitlines()[0]}"
    text = _compare(found, expected, call.name not in _ANY_ZERO)
    return None if text is None else f"{call}: {text}"


def _compare(found: Any, expected: Any, has_signs: bool) -> str | None:
    if isinstance(expected, (tuple, list)):
        if len(found) != len(expected):
            return f"{len(found)} results instead of {len(expected)}"
        texts = (_compare(*pair, has_signs) for pair in zip(found, expected))
        return next((text for text in texts if text is not None), None)
    if not hasattr(expected, "shape"):
        same = _name(found) == _name(expected)
        return None if same else f"{_name(found)} instead of {_name(expected)}"
    array = np.asarray(expected)
    if _name(found.dtype) != _name(expected.dtype):
        return f"dtype {_name(found.dtype)} instead of {_name(expected.dtype)}"
    if tuple(found.shape) != array.shape:
        return f"shape {tuple(found.shape)} instead of {array.shape}"
    return _differing(np.asarray(found), array, has_signs)


def _name(value: Any) -> str:
    """Return a value as text: of a dtype, the name without the name of its library."""
    return str(value).rpartition(".")[2] if "dtype" in type(value).__name__.lower() else repr(value)


def _differing(
    found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], has_signs: bool
) -> str | None:
    if expected.dtype.kind not in "fc":
        same = found == expected
    else:
        precision = np.finfo(expected.dtype).eps * 16
        with np.errstate(all="ignore"):
            same = np.isclose(found, expected, rtol=precision, atol=0, equal_nan=True)
            if expected.dtype.kind == "c":
                same |= np.abs(found - expected) <= precision * np.maximum(np.abs(expected), 1)
            elif has_signs:
                same &= (expected != 0) | (np.signbit(found) == np.signbit(expected))
    if np.all(same):
        return None
    place = tuple(np.argwhere(~same)[0])
    return f"{found[place]} instead of {expected[place]} at {[int(i) for i in place]}"
