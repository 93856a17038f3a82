"""Report all problems of the inputs: those that `checking` finds, and violations of conventions."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.lints import lint as report_lints
from opgen.lints import lint_allows, suppress
from opgen.model.profile import ATEN
from opgen.model.registry import Registry
from opgen.pipeline.checking import (
    allow_comments,
    check_python,
    check_target,
    check_unsupported,
    read_additions,
)
from opgen.pipeline.derivatives import Gradients, check_called_functions, check_derivatives
from opgen.pipeline.inputs import Inputs, is_backend_only
from opgen.pipeline.loading import read_registry
from opgen.resolve import without_reported
from opgen.targets import TARGETS
from opgen.targets.base import FileKind


class Stage(IntEnum):
    """The last stage that `survey` runs; each stage comes after those above it."""

    resolve = 1
    check = 2
    lint = 3


def inspect(
    inputs: Inputs,
    diagnostics: Diagnostics,
    *,
    unsupported: bool = False,
    until: Stage = Stage.lint,
) -> Registry | None:
    """Report all problems of the inputs; return None if there are errors.

    Later stages skip entries with errors, and check all others.
    With `unsupported`, also report entries that are valid, but for which the target generates no files.
    """
    registry = survey(inputs, diagnostics, unsupported=unsupported, until=until)
    return None if diagnostics.has_errors else registry


def survey(
    inputs: Inputs,
    diagnostics: Diagnostics,
    *,
    unsupported: bool = False,
    until: Stage = Stage.lint,
    is_stale: Callable[[], bool] = lambda: False,
) -> Registry:
    """Do as `inspect`, but return a registry of the entries without errors.

    Ends after the stage `until`, and between stages when `is_stale()` says that nobody waits for the result.
    """
    registry = read_registry(inputs, diagnostics)
    whole = None if diagnostics.has_errors else registry
    if is_stale():
        return registry
    gradients = Gradients()
    if until >= Stage.check:
        signatures = check_target(registry, inputs, diagnostics)
        if inputs.python:
            check_python(registry, inputs, diagnostics)
        if unsupported:
            check_unsupported(registry, inputs, diagnostics)
        read_additions(whole, inputs, diagnostics)
        gradients = check_derivatives(whole, inputs, signatures, diagnostics)
        check_called_functions(gradients, inputs, diagnostics)
    if until >= Stage.lint:
        lint(registry, inputs, gradients, diagnostics)
    if not diagnostics.has_errors:
        return registry
    return without_reported(registry, diagnostics.error_spans())


def lint(
    registry: Registry, inputs: Inputs, gradients: Gradients, diagnostics: Diagnostics
) -> None:
    """Report violations of conventions, if there are no errors, and drop warnings that comments allow.

    Operators of another library, for which only a backend is generated, follow the conventions of that library.
    """
    sound = not diagnostics.has_errors and not is_backend_only(inputs)
    linted = _without_base(registry) if inputs.backend_yaml is not None else registry
    if sound:
        target = TARGETS[inputs.target]
        report_lints(
            linted,
            target.dispatch.tensor_keys,
            diagnostics,
            bases=target.cpp.base_headers.keys(),
            with_formulas=(
                {fn.func.full_name for fn in gradients.functions if fn.infos}
                if FileKind.REGISTER_AUTOGRAD in target.plan.kinds
                else None
            ),
            traced=target.dispatch.functionalizes,
            several_views=target.dispatch.replaces_several_views,
        )
    allows = allow_comments(registry)
    used = suppress(allows, diagnostics)
    if sound:
        sources = {id(f.spans.entry.source) for f in linted.functions}
        own = [allow for allow in allows if id(allow.span.source) in sources]
        lint_allows(own, used, diagnostics)


def _without_base(registry: Registry) -> Registry:
    """Return the registry without files that define only operators of `aten`: these are PyTorch's, for which the
    backend is.
    """
    own = {id(f.spans.entry.source) for f in registry.functions if f.namespace != ATEN}
    kept = tuple(f for f in registry.functions if id(f.spans.entry.source) in own)
    return replace(registry, functions=kept)
