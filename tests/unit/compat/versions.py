"""Compare two versions of a file, for the tests of this folder."""

from __future__ import annotations

from opgen.compat import Break, compare_operators
from opgen.model.native_function import NativeFunction
from support.inputs import registry_of


def operators(text: str) -> tuple[NativeFunction, ...]:
    return registry_of(text).functions


def breaks(old: str, new: str) -> tuple[Break, ...]:
    """Return what breaks between two files."""
    return compare_operators(operators(old), operators(new))


def schema_breaks(old: str, new: str) -> tuple[Break, ...]:
    """Return what breaks between two versions of one entry, each given by its schema."""
    return breaks(f"- func: {old}\n", f"- func: {new}\n")
