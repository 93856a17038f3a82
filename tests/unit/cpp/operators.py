"""Operators from the text of an entry, for the tests of this folder."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, Source
from opgen.model.native_function import NativeFunction
from opgen.parse.files.native_functions import builtin_tags
from opgen.targets import TARGETS
from support.entries import parse_native_functions

# The torch spelling distinguishes more types than the runtime's, where SymInt is int64_t.
SPELLING = TARGETS["torch"].cpp.spelling
CONVERSIONS = TARGETS["torch"].cpp.conversions

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def operator(schema: str, *keys: str) -> NativeFunction:
    """Parse one entry; `keys` are further lines of it, such as `variants: method`."""
    text = "\n".join([f"- func: {schema}", *(f"  {key}" for key in keys)])
    diagnostics = Diagnostics()
    functions = parse_native_functions([Source("f.yaml", text)], builtin_tags(), (), diagnostics)
    assert [item.message for item in diagnostics] == []
    return functions[0]
