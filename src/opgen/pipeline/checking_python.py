"""Check a registry for Python bindings."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, until_too_many
from opgen.model.registry import Registry
from opgen.pipeline.inputs import Inputs
from opgen.python.check import check_python as check_python_bindings
from opgen.python.signatures import Spellings
from opgen.resolve import without_reported
from opgen.targets import TARGETS


@until_too_many(lambda: None)
def check_python(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report operators that cannot have a Python binding, if the target generates bindings."""
    target = TARGETS[inputs.target]
    if target.call_words is not None:
        return
    spellings = Spellings(target.cpp.spelling, target.python)
    if diagnostics.has_errors:
        registry = without_reported(registry, diagnostics.error_spans())
    check_python_bindings(registry.functions, spellings, diagnostics)
