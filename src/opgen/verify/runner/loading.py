"""Load a library, its schemas and what its author says about them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, OpgenError
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.domains import EVERYTHING
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.pipeline.derivatives import derive_gradients
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load as load_registry
from opgen.verify.backends import Backend
from opgen.verify.backends.jax_backend import JaxBackend
from opgen.verify.backends.runtime_backend import RuntimeBackend
from opgen.verify.backends.torch_backend import TorchBackend
from opgen.verify.backends.tvm_ffi_backend import TvmFfiBackend
from opgen.verify.domains import read_domains
from opgen.verify.memory.guard import Guard
from opgen.verify.runner.messages import Request
from opgen.verify.subjects import POINTWISE, Facts, Subject, connect_variants

_ITERATOR = "TensorIteratorBase"
_FRAMEWORKS = {"": RuntimeBackend, "jax": JaxBackend, "tvm-ffi": TvmFfiBackend}


def load(request: Request, guard: Guard | None) -> tuple[Backend, list[Subject]]:
    """Load the library of a request; return its kind of tensors, and all of its operators."""
    inputs = Inputs(
        yaml=tuple(map(Path, request.yaml)),
        derivatives=tuple(map(Path, request.derivatives)),
        target=request.target,
    )
    registry, formulas = read_schemas(inputs, Diagnostics())
    backend: Backend
    if request.target == "runtime":
        (package,) = request.loads
        kind = _FRAMEWORKS[request.framework]
        backend = kind(package, request.folders, registry.functions, guard)
    else:
        backend = TorchBackend(request.loads, request.namespaces, guard, request.folders)
    subjects = backend.subjects()
    connect_variants(subjects)
    domains = read_domains([Path(file) for file in request.domains])
    for subject in subjects:
        found = (domains[name] for name in _names(subject) if name in domains)
        subject.domain = next(found, EVERYTHING)
    for subject in subjects:
        if subject.functional is not None and subject.domain is EVERYTHING:
            # Its calls are those of the functional variant.
            subject.domain = subject.functional.domain
        f = registry.find_function(subject.name)
        if f is not None:
            subject.facts = _facts(subject, f, registry, formulas.get(subject.name))
    return backend, subjects


def known_names(subjects: Iterable[Subject]) -> dict[str, list[str]]:
    """Return the arguments of operators by each name that a file of domains may use for them."""
    found: dict[str, dict[str, None]] = {}
    for subject in subjects:
        for name in _names(subject):
            found.setdefault(name, {}).update(dict.fromkeys(a.name for a in subject.arguments))
    return {name: list(arguments) for name, arguments in found.items()}


def choose(subjects: Iterable[Subject], patterns: Sequence[str]) -> tuple[list[Subject], list[str]]:
    """Return the operators that match one of the patterns, and the patterns that match none."""
    found, unused = [], dict.fromkeys(patterns)
    for subject in subjects:
        names = [n for full in _names(subject) for n in (full, full.partition("::")[2])]
        matching = [p for p in patterns if any(fnmatch.fnmatchcase(n, p) for n in names)]
        for pattern in matching:
            unused.pop(pattern, None)
        if matching or not patterns:
            found.append(subject)
    return found, list(unused)


def _facts(
    subject: Subject,
    f: NativeFunction,
    registry: Registry,
    info: DifferentiabilityInfo | None,
) -> Facts:
    """Return what the entry of an operator says, with what the backend knows."""
    known = subject.facts
    group = registry.structured_group_of(f)
    primary = f if group is None else group.primary
    iterates = primary.structured_inherits == _ITERATOR and not any(
        a.type.is_list_like() for a in f.func.arguments.flat_all if a.type.is_tensor_like()
    )
    tags = known.tags | f.tags
    return replace(
        known,
        tags=tags,
        is_composite=known.is_composite or f.has_composite_implicit_autograd_kernel,
        is_pointwise=POINTWISE in tags or iterates,
        # A kernel for Autograd that is written by hand counts, too.
        formulas=known.formulas or (info is not None and info.has_derivatives),
        non_differentiable=frozenset(info.non_differentiable_arg_names if info else ()),
        file=f.span.source.path,
        line=f.span.source.location(f.span.start).line,
    )


def read_schemas(
    inputs: Inputs, diagnostics: Diagnostics
) -> tuple[Registry, Mapping[str, DifferentiabilityInfo | None]]:
    """Return the schema files, if there are any, and what the files of formulas say, by the full names of operators.

    Raises OpgenError if there are errors, then or before.
    """
    registry: Registry | None = Registry((), (), (), ())
    functions: Sequence[DifferentiableFunction] = ()
    if inputs.yaml and (registry := load_registry(inputs, diagnostics)) is not None:
        functions = derive_gradients(registry, inputs, Signatures(), diagnostics).functions
    if registry is None or diagnostics.has_errors:
        raise OpgenError(diagnostics)
    return registry, {f.func.full_name: f.infos.get(DEFAULT_KEY) for f in functions}


def _names(subject: Subject) -> tuple[str, ...]:
    """Return the names of an overload, the most specific one first."""
    return (subject.name, f"{subject.namespace}::{subject.schema.name.name}", subject.group)
