"""All that can be wrong with a registry for the target."""

from __future__ import annotations

from opgen.additions import Additions, read_backend, read_selection
from opgen.cpp import check as cpp_check
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.model.registry import Registry
from opgen.parse import (
    Allow,
    read_allows,
)
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.installed import is_backend_only
from opgen.resolve import without_reported
from opgen.targets import TARGETS, functionalization, refusals, unsupported


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
def check_refused(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report operators that the target makes no files for."""
    if is_backend_only(inputs):
        refusals.report_not_installed(registry, TARGETS[inputs.target], diagnostics)
    else:
        refusals.report_refused(registry, TARGETS[inputs.target], diagnostics)


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
