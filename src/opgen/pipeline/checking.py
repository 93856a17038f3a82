"""All that can be wrong with a registry: for the target, for Python, by convention."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from opgen.additions import Additions, read_backend, read_selection
from opgen.cpp import check as cpp_check
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.lints import lint as report_lints
from opgen.lints import lint_allows, silence
from opgen.model.registry import Registry
from opgen.parse import (
    Allow,
    read_allows,
)
from opgen.pipeline.codes import CODES
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.installed import is_backend_only
from opgen.pipeline.loading import read_registry
from opgen.python.check import check_python as check_python_bindings
from opgen.python.signatures import Spellings
from opgen.resolve import without_reported
from opgen.targets import TARGETS, functionalization, unsupported
from opgen.targets.installed import report_world


def inspect(inputs: Inputs, diagnostics: Diagnostics, *, python: bool = False) -> Registry | None:
    """Report all that is wrong with the inputs; None if there are errors.

    An entry with errors is left out from then on, so that every stage can look at the others.
    """
    registry = survey(inputs, diagnostics, python=python)
    return None if diagnostics.has_errors else registry


def survey(
    inputs: Inputs,
    diagnostics: Diagnostics,
    *,
    python: bool = False,
    is_stale: Callable[[], bool] = lambda: False,
) -> Registry:
    """As `inspect`; the registry is of what has no errors.

    Between stages it ends early if the answer is not wanted any more.
    """
    registry = read_registry(inputs, diagnostics)
    whole = None if diagnostics.has_errors else registry
    if is_stale():
        return registry
    check_target(registry, inputs, diagnostics)
    if python:
        check_python(registry, inputs, diagnostics)
    read_additions(whole, inputs, diagnostics)
    lint(registry, inputs, diagnostics)
    if not diagnostics.has_errors:
        return registry
    return without_reported(registry, diagnostics.error_spans())


def lint(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report what goes against a convention, if there are no errors, and silence what is allowed.

    Operators of another library, for which only a backend is made, follow that one's conventions.
    """
    sound = not diagnostics.has_errors and not is_backend_only(inputs)
    if sound:
        report_lints(registry, TARGETS[inputs.target].tensor_keys, diagnostics)
    allows = allow_comments(registry)
    used = silence(allows, diagnostics)
    if sound:
        lint_allows(allows, used, CODES.keys(), diagnostics)


@until_too_many(Signatures)
def check_target(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> Signatures:
    """Report what cannot be written as C++, or not by the target; the signatures for later stages."""
    signatures = Signatures()
    target = TARGETS[inputs.target]
    broken = diagnostics.has_errors
    if broken:
        registry = without_reported(registry, diagnostics.error_spans())
    backend_only = is_backend_only(inputs)
    extends = inputs.extends is not None and not backend_only
    unsupported.report_unsupported(registry, extends=extends, diagnostics=diagnostics)
    cpp_check.check_signatures(
        registry, target.spelling, target.conversions, diagnostics, signatures
    )
    if target.functionalizes and not broken and not backend_only:
        functionalization.report_unfunctionalizable(registry, diagnostics)
    return signatures


@until_too_many(lambda: None)
def check_python(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report operators that no Python binding can be made of, where bindings are made."""
    target = TARGETS[inputs.target]
    if target.call_words is not None:
        return
    spellings = Spellings(target.spelling, target.python)
    if diagnostics.has_errors:
        registry = without_reported(registry, diagnostics.error_spans())
    check_python_bindings(registry.functions, spellings, diagnostics)


def check_world(inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report if nothing can be compiled for the target with this Python.

    Where the environment says Package_DIR, which CMake follows, there is another one, and CMake looks at it.
    """
    world = TARGETS[inputs.target].world
    if world is not None and not os.environ.get(f"{world.package.capitalize()}_DIR"):
        report_world(world, sys.executable, diagnostics)


@until_too_many(Additions)
def read_additions(
    registry: Registry | None, inputs: Inputs, diagnostics: Diagnostics
) -> Additions:
    """The external backend and the selection that `inputs` name; problems of both are reported.

    Without a registry they are only read: what it lacks cannot be told from what was refused.
    """
    target, overlay = TARGETS[inputs.target], inputs.overlay
    paths = (inputs.backend_yaml, inputs.impl_path)
    return Additions(
        backend=read_backend(*paths, registry, target, diagnostics, overlay),
        selection=read_selection(inputs.select, registry, diagnostics, overlay),
    )


def allow_comments(registry: Registry) -> tuple[Allow, ...]:
    sources = {id(f.spans.entry.source): f.spans.entry.source for f in registry.functions}
    return tuple(allow for source in sources.values() for allow in read_allows(source))
