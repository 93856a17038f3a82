"""What a target fills into the Python signatures of its operators."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PythonSpelling:
    """`string`, `array` and `optional_tensors` are what the argument parser calls a str, a list of bool
    with a size, and `Tensor?[]`. `return_types` is the module of the named tuples that are returned;
    `stub_defaults` holds the C++ defaults that a stub writes otherwise.
    """

    string: str
    array: str
    optional_tensors: str
    return_types: str
    stub_defaults: tuple[tuple[str, str], ...]
