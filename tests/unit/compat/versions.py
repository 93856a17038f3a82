"""Texts of two versions of a file into what breaks between them, for the tests of this folder."""

from __future__ import annotations

from opgen.compat import Break, compare_operators
from opgen.diagnostics import Diagnostics, Source
from opgen.model.native_function import NativeFunction
from opgen.parse import builtin_tags, parse_native_functions
from opgen.resolve import resolve


def operators(text: str) -> tuple[NativeFunction, ...]:
    diagnostics = Diagnostics()
    known = builtin_tags()
    functions = parse_native_functions([Source("f.yaml", text)], known, (), diagnostics)
    registry = resolve(functions, diagnostics, known.names)
    if diagnostics.has_errors:
        raise AssertionError([d.message for d in diagnostics])
    return registry.functions


def breaks(old: str, new: str) -> tuple[Break, ...]:
    """What breaks between two files."""
    return compare_operators(operators(old), operators(new))


def schema_breaks(old: str, new: str) -> tuple[Break, ...]:
    """What breaks between two versions of one entry, each given by its schema."""
    return breaks(f"- func: {old}\n", f"- func: {new}\n")
