"""Load a library, its schemas and what its author says about them."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from pathlib import Path

from opgen.diagnostics import Diagnostics, OpgenError
from opgen.drawing.domains import EVERYTHING, Domain
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load as load_registry
from opgen.verify.backends.base import Backend
from opgen.verify.backends.runtime_backend import RuntimeBackend
from opgen.verify.backends.torch_backend import TorchBackend
from opgen.verify.domains import read_domains
from opgen.verify.memory.guard import Guard
from opgen.verify.runner.messages import Request
from opgen.verify.subjects import POINTWISE, Facts, Subject, connect_variants

_ITERATOR = "TensorIteratorBase"


def load(request: Request, guard: Guard | None) -> tuple[Backend, list[Subject]]:
    """Load the library of a request; return its kind of tensors, and the operators that are asked for."""
    registry = _registry(request)
    backend: Backend
    if request.target == "runtime":
        functions = () if registry is None else registry.functions
        (package,) = request.loads
        backend = RuntimeBackend(package, request.folders, functions, guard)
    else:
        backend = TorchBackend(request.loads, request.namespaces, guard, request.folders)
    subjects = backend.subjects()
    connect_variants(subjects)
    domains = read_domains([Path(file) for file in request.domains])
    functions_by_name = {} if registry is None else {f.full_name: f for f in registry.functions}
    gone = _non_differentiable(request, registry)
    for subject in subjects:
        subject.domain = _domain(subject, domains)
        f = functions_by_name.get(subject.name)
        if f is not None:
            subject.facts = _facts(subject, f, registry, gone.get(subject.group, frozenset()))
    wanted = [s for s in subjects if _is_wanted(s, request.only)]
    return backend, wanted


def _registry(request: Request) -> Registry | None:
    if not request.yaml:
        return None
    diagnostics = Diagnostics()
    inputs = Inputs(
        yaml=tuple(map(Path, request.yaml)),
        derivatives=tuple(map(Path, request.derivatives)),
        tags=Path(request.tags) if request.tags else None,
        target=request.target,
    )
    registry = load_registry(inputs, diagnostics)
    if registry is None:
        raise OpgenError(diagnostics)
    return registry


def _facts(
    subject: Subject, f: NativeFunction, registry: Registry | None, gone: frozenset[str]
) -> Facts:
    """Return what the entry of an operator says, with what the backend knows."""
    known = subject.facts
    group = None if registry is None else registry.structured_group_of(f)
    primary = f if group is None else group.primary
    iterates = primary.structured_inherits == _ITERATOR and not any(
        a.type.is_list_like() for a in f.func.arguments.flat_all if a.type.is_tensor_like()
    )
    tags = known.tags | f.tags
    return Facts(
        tags=tags,
        is_composite=known.is_composite or f.has_composite_implicit_autograd_kernel,
        has_meta=known.has_meta,
        is_pointwise=POINTWISE in tags or iterates,
        formulas=known.formulas,
        non_differentiable=gone,
        file=f.span.source.path,
        line=f.span.source.location(f.span.start).line,
    )


def _non_differentiable(
    request: Request, registry: Registry | None
) -> Mapping[str, frozenset[str]]:
    """Return the arguments that formulas call non_differentiable, by the name of the group."""
    del request, registry
    return {}


def _domain(subject: Subject, domains: Mapping[str, Domain]) -> Domain:
    """Return the domain of an overload: by its full name, else by the name of its group."""
    for name in (subject.name, f"{subject.namespace}::{subject.schema.name.name}", subject.group):
        if name in domains:
            return domains[name]
    return EVERYTHING


def _is_wanted(subject: Subject, only: tuple[str, ...]) -> bool:
    short = str(subject.schema.name)
    names = (subject.name, short, subject.group, subject.group.partition("::")[2])
    return not only or any(fnmatch.fnmatchcase(n, pattern) for n in names for pattern in only)
