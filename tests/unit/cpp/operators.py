"""Texts of entries into operators and their C++ text, for the tests of this folder."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, Source
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.parse import builtin_tags, parse_native_functions
from opgen.resolve import resolve
from opgen.targets import TARGETS

# The spelling of torch tells more types apart than that of the runtime, where SymInt is int64_t.
SPELLING = TARGETS["torch"].spelling
CONVERSIONS = TARGETS["torch"].conversions

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def registry_of(text: str) -> Registry:
    diagnostics = Diagnostics()
    known = builtin_tags()
    functions = parse_native_functions([Source("f.yaml", text)], known, (), diagnostics)
    assert [d.message for d in diagnostics] == []
    return resolve(functions, Diagnostics(), known.names)


def operator(schema: str, *keys: str) -> NativeFunction:
    """The operator of one entry; `keys` are further lines of it, such as `variants: method`."""
    lines = [f"- func: {schema}", *(f"  {key}" for key in keys)]
    return registry_of("\n".join(lines) + "\n").functions[0]
