"""Check a registry for a target."""

from __future__ import annotations

from opgen.cpp import check as cpp_check
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.model.registry import Registry
from opgen.parse import (
    Allow,
    read_allows,
)
from opgen.pipeline.additions import Additions, read_backend, read_selection
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.installed import is_backend_only
from opgen.resolve import without_reported
from opgen.targets import TARGETS, unsupported


@until_too_many(Signatures)
def check_target(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> Signatures:
    """Report schemas that have no C++ form, or none in the target. Returns the signatures, for later stages."""
    signatures = Signatures()
    target = TARGETS[inputs.target]
    broken = diagnostics.has_errors
    if broken:
        registry = without_reported(registry, diagnostics.error_spans())
    backend_only = is_backend_only(inputs)
    if inputs.extends is not None and not backend_only:
        unsupported.report_methods(registry, diagnostics)
    cpp_check.check_signatures(
        registry, target.cpp.spelling, target.cpp.conversions, diagnostics, signatures
    )
    if target.dispatch.functionalizes and not broken and not backend_only:
        unsupported.report_unfunctionalizable(registry, diagnostics)
    required = target.required_package
    if target.serves_releases and required is not None:
        release = unsupported.find_release(inputs.torch, required, diagnostics)
        unsupported.report_stable(registry, target, release, diagnostics, python=inputs.python)
    elif inputs.torch is not None:
        message = f"a library for target {target.name} works with one release of PyTorch at most"
        diagnostics.error("E0910", message, None, hint="leave out --torch, or use torch-stable")
    return signatures


@until_too_many(lambda: None)
def check_unsupported(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report operators for which the target generates no files."""
    if is_backend_only(inputs):
        unsupported.report_not_installed(registry, TARGETS[inputs.target], diagnostics)
    else:
        unsupported.report_operators(registry, TARGETS[inputs.target], diagnostics)


@until_too_many(Additions)
def read_additions(
    registry: Registry | None, inputs: Inputs, diagnostics: Diagnostics
) -> Additions:
    """Read the external backend and the selection that `inputs` name, and report their problems.

    Without a registry, their operators are not looked up: a missing one may be an entry with errors.
    """
    target, overlay = TARGETS[inputs.target], inputs.overlay
    paths = (inputs.backend_yaml, inputs.impl_path)
    return Additions(
        backend=read_backend(*paths, registry, target, diagnostics, overlay),
        selection=read_selection(inputs.select, registry, diagnostics, overlay),
    )


def allow_comments(registry: Registry) -> tuple[Allow, ...]:
    """Read the comments that allow warnings from all files of the registry."""
    sources = {id(f.spans.entry.source): f.spans.entry.source for f in registry.functions}
    return tuple(allow for source in sources.values() for allow in read_allows(source))
