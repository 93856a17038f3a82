"""Check a registry for a target, and read what is given beside it: an external backend, and a selection of operators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from opgen.cpp import check as cpp_check
from opgen.cpp.backend_check import check_coverage, check_overloads
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.model.backend import ExternalBackend
from opgen.model.registry import Registry
from opgen.model.selector import merge
from opgen.parse import Allow, parse_backend, parse_selective, read_allows
from opgen.pipeline.inputs import Inputs, Overlay, is_backend_only
from opgen.pipeline.loading import read_source
from opgen.python.check import check_python as check_python_bindings
from opgen.python.signatures import Spellings
from opgen.resolve import without_reported
from opgen.resolve.backend import resolve_backend
from opgen.resolve.selection import Selection, select
from opgen.targets import TARGETS, unsupported
from opgen.targets.base import Target


class Additions(Struct, frozen=True):
    """The external backend and the selection. Each is None if the inputs do not name it, and if there are errors."""

    backend: ExternalBackend | None = None
    selection: Selection | None = None


def _read_backend(
    path: Path | None,
    impl_path: Path | None,
    registry: Registry | None,
    target: Target,
    diagnostics: Diagnostics,
    overlay: Overlay,
) -> ExternalBackend | None:
    """Read the backend file at `path`, and check that the source at `impl_path` defines all of its kernels."""
    before = diagnostics.error_count
    source = None if path is None else read_source(path, diagnostics, overlay)
    file = None if source is None else parse_backend(source, diagnostics)
    if file is None or registry is None or diagnostics.error_count > before:
        return None
    backend = resolve_backend(file, registry, diagnostics)
    if backend is None:
        return None
    unsupported.report_backend(target, file, backend, diagnostics)
    check_overloads(backend, target.cpp.spelling, diagnostics)
    implementation = None if impl_path is None else read_source(impl_path, diagnostics, overlay)
    if implementation is not None and diagnostics.error_count == before:
        check_coverage(backend, implementation, target.cpp.spelling, diagnostics)
    return backend


def _read_selection(
    paths: Sequence[Path],
    registry: Registry | None,
    diagnostics: Diagnostics,
    overlay: Overlay,
) -> Selection | None:
    """Read the selection of all files together; return None if there are no files, or no registry to select from."""
    sources = [read_source(path, diagnostics, overlay) for path in paths]
    selectors = [parse_selective(s, diagnostics) for s in sources if s is not None]
    if registry is None or not selectors:
        return None
    return select(registry, merge(selectors), diagnostics)


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
        backend=_read_backend(*paths, registry, target, diagnostics, overlay),
        selection=_read_selection(inputs.select, registry, diagnostics, overlay),
    )


def allow_comments(registry: Registry) -> tuple[Allow, ...]:
    """Read the comments that allow warnings from all files of the registry."""
    sources = {id(f.spans.entry.source): f.spans.entry.source for f in registry.functions}
    return tuple(allow for source in sources.values() for allow in read_allows(source))


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
