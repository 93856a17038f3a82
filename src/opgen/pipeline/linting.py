"""All that can be wrong with the inputs: what `checking` reports, and what goes against a convention."""

from __future__ import annotations

from collections.abc import Callable

from opgen.dataclasses import replace
from opgen.diagnostics import Diagnostics
from opgen.lints import lint as report_lints
from opgen.lints import lint_allows, silence
from opgen.model.registry import Registry
from opgen.pipeline.checking import (
    allow_comments,
    check_refused,
    check_target,
    read_additions,
)
from opgen.pipeline.checking_python import check_python
from opgen.pipeline.codes import CODES
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.installed import is_backend_only
from opgen.pipeline.loading import read_registry
from opgen.resolve import without_reported
from opgen.targets import TARGETS


def inspect(
    inputs: Inputs, diagnostics: Diagnostics, *, python: bool = False, refused: bool = False
) -> Registry | None:
    """Report all that is wrong with the inputs; None if there are errors.

    An entry with errors is left out from then on, so that every stage can look at the others.
    With `refused` also what is good but for what the target makes no files.
    """
    registry = survey(inputs, diagnostics, python=python, refused=refused)
    return None if diagnostics.has_errors else registry


def survey(
    inputs: Inputs,
    diagnostics: Diagnostics,
    *,
    python: bool = False,
    refused: bool = False,
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
    if refused:
        check_refused(registry, inputs, diagnostics)
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
    linted = _without_base(registry) if inputs.backend_yaml is not None else registry
    if sound:
        target = TARGETS[inputs.target]
        report_lints(linted, target.tensor_keys, diagnostics, traced=target.functionalizes)
    allows = allow_comments(registry)
    used = silence(allows, diagnostics)
    if sound:
        sources = {id(f.spans.entry.source) for f in linted.functions}
        own = [allow for allow in allows if id(allow.span.source) in sources]
        lint_allows(own, used, CODES.keys(), diagnostics)


def _without_base(registry: Registry) -> Registry:
    """Without the files that hold operators of `aten` only: a backend file is for these, which are PyTorch's."""
    own = {id(f.spans.entry.source) for f in registry.functions if f.namespace != "aten"}
    kept = tuple(f for f in registry.functions if id(f.spans.entry.source) in own)
    return replace(registry, functions=kept)
