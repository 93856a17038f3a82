"""Report all problems of the inputs: errors of every stage, and violations of conventions."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from opgen.cpp import check as cpp_check
from opgen.cpp.check import check_coverage, check_overloads
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.lints import lint as report_lints
from opgen.lints import lint_allows, suppress
from opgen.model.backend import ExternalBackend
from opgen.model.profile import ATEN
from opgen.model.registry import Registry
from opgen.model.selector import Selection, merge, select
from opgen.parse.entries.comments import Allow, read_allows
from opgen.parse.files.backend import parse_backend
from opgen.parse.files.selective import parse_selective
from opgen.pipeline.derivatives import Gradients, check_called_functions, check_derivatives
from opgen.pipeline.inputs import Inputs, is_backend_only
from opgen.pipeline.loading import read_registry, read_source
from opgen.python.check import check_python as check_python_bindings
from opgen.python.frameworks import report_frameworks
from opgen.python.signatures import Spellings
from opgen.resolve import without_reported
from opgen.resolve.backend import resolve_backend
from opgen.targets import TARGETS, unsupported
from opgen.targets.base import FileKind


class Additions(Struct, frozen=True):
    """The external backend and the selection. Each is None if the inputs do not name it, and if there are errors."""

    backend: ExternalBackend | None = None
    selection: Selection | None = None


def _read_backend(
    registry: Registry | None, inputs: Inputs, diagnostics: Diagnostics
) -> ExternalBackend | None:
    """Read the file of the backend, and check that the implementation defines all of its kernels."""
    path, impl_path, target = inputs.backend_yaml, inputs.impl_path, TARGETS[inputs.target]
    before = diagnostics.error_count
    source = None if path is None else read_source(path, diagnostics, inputs.overlay)
    file = None if source is None else parse_backend(source, diagnostics)
    if file is None or registry is None or diagnostics.error_count > before:
        return None
    backend = resolve_backend(file, registry, diagnostics)
    if backend is None:
        return None
    unsupported.report_backend(target, file, backend, diagnostics)
    check_overloads(backend, target.cpp.spelling, diagnostics)
    source = None if impl_path is None else read_source(impl_path, diagnostics, inputs.overlay)
    if source is not None and diagnostics.error_count == before:
        check_coverage(backend, source, target.cpp.spelling, diagnostics)
    return backend


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
    is_runtime = target.call_words is None
    report_frameworks(
        registry.functions,
        inputs.frameworks,
        diagnostics,
        is_runtime=is_runtime,
        python=inputs.python,
    )
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
    backend = _read_backend(registry, inputs, diagnostics)
    sources = [read_source(path, diagnostics, inputs.overlay) for path in inputs.select]
    selectors = [parse_selective(s, diagnostics) for s in sources if s is not None]
    if registry is None or not selectors:
        return Additions(backend)
    return Additions(backend, select(registry, merge(selectors), diagnostics))


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


class Checked(Struct, frozen=True):
    """What the checks found out: signatures, additions and gradients, for later stages."""

    signatures: Signatures
    additions: Additions
    gradients: Gradients


def check(
    registry: Registry, inputs: Inputs, diagnostics: Diagnostics, *, unsupported: bool = True
) -> Checked:
    """Report what makes a registry, with the files that `inputs` name, no library of the target."""
    whole = None if diagnostics.has_errors else registry
    signatures = check_target(registry, inputs, diagnostics)
    if inputs.python:
        check_python(registry, inputs, diagnostics)
    if unsupported:
        check_unsupported(registry, inputs, diagnostics)
    additions = read_additions(whole, inputs, diagnostics)
    gradients = check_derivatives(whole, inputs, signatures, diagnostics)
    return Checked(signatures, additions, gradients)


class Stage(IntEnum):
    """The last stage that `inspect` runs; each stage comes after those above it."""

    resolve = 1
    check = 2
    lint = 3


def inspect(
    inputs: Inputs,
    diagnostics: Diagnostics,
    *,
    unsupported: bool = False,
    until: Stage = Stage.lint,
    is_stale: Callable[[], bool] = lambda: False,
) -> Registry:
    """Report all problems of the inputs; return a registry of the entries without errors.

    Later stages skip entries with errors, and check all others. Ends after the stage `until`, and between stages when
    `is_stale()` says that nobody waits for the result. With `unsupported`, also report entries that are valid, but for
    which the target generates no files.
    """
    registry = read_registry(inputs, diagnostics)
    if is_stale():
        return registry
    gradients = Gradients()
    if until >= Stage.check:
        gradients = check(registry, inputs, diagnostics, unsupported=unsupported).gradients
        check_called_functions(gradients, inputs, diagnostics)
    if until >= Stage.lint:
        lint(registry, inputs, gradients, diagnostics)
    if not diagnostics.has_errors:
        return registry
    return without_reported(registry, diagnostics.error_spans())


def allow_comments(registry: Registry) -> tuple[Allow, ...]:
    """Read the comments that allow warnings from all files of the registry."""
    sources = {id(f.spans.entry.source): f.spans.entry.source for f in registry.functions}
    return tuple(allow for source in sources.values() for allow in read_allows(source))


def lint(
    registry: Registry, inputs: Inputs, gradients: Gradients, diagnostics: Diagnostics
) -> None:
    """Report violations of conventions, if there are no errors, and drop warnings that comments allow.

    Operators of another library, for which only a backend is generated, follow the conventions of that library.
    """
    sound = not diagnostics.has_errors and not is_backend_only(inputs)
    linted = registry
    if inputs.backend_yaml is not None:
        # Without files that define only operators of `aten`: these are PyTorch's, for which the backend is.
        own = {id(f.spans.entry.source) for f in registry.functions if f.namespace != ATEN}
        kept = (f for f in registry.functions if id(f.spans.entry.source) in own)
        linted = replace(registry, functions=tuple(kept))
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
        of_linted = [allow for allow in allows if id(allow.span.source) in sources]
        lint_allows(of_linted, used, diagnostics)
