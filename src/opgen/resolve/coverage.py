"""Find out what an external backend runs for each operator: a kernel of its own, a composite, the CPU, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from opgen.model.backend import ExternalBackend
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.backend import backend_registrations
from opgen.resolve.computed_table import serving_alias
from opgen.resolve.dispatch_tables import RegistrationKind


class Coverage(Enum):
    """The ways in which a backend may run an operator, best first. The value is the text for people."""

    structured = "structured kernel"
    kernel = "kernel"
    made = "made from another kernel"
    composite = "made of other operators"
    fallback = "on the CPU"
    missing = "missing"


# Operators that run kernels of the backend.
OWN = frozenset({Coverage.structured, Coverage.kernel, Coverage.made})

_OF_KIND = {
    RegistrationKind.structured: Coverage.structured,
    RegistrationKind.external: Coverage.kernel,
    RegistrationKind.from_functional: Coverage.made,
    RegistrationKind.from_out: Coverage.made,
}


class CoverageTable:
    """The coverage of the operators of one registry by one backend."""

    def __init__(self, backend: ExternalBackend, registry: Registry) -> None:
        self._backend, self._registry = backend, registry
        rows = backend_registrations(backend, backend.forward, registry)
        self._registered: Mapping[str, Coverage] = {
            row.function.full_name: _OF_KIND[row.kind] for row in rows
        }

    def of(self, f: NativeFunction) -> Coverage:
        """Return what a call of `f` with tensors of the backend runs.

        The operators that a composite kernel calls are not checked. But if a generated kernel calls only the out
        variant of its own group, the coverage of that variant counts.
        """
        own = self._registered.get(f.full_name)
        if own is not None:
            return own
        alias = serving_alias(self._registry, f, self._backend.forward.key)
        if alias is None:
            return Coverage.fallback if self._backend.cpu_fallback else Coverage.missing
        group = self._registry.group_of(f)
        by_out = alias is DispatchKey.CompositeExplicitAutogradNonFunctional
        if not by_out or group is None or not group.structured or f is group.out:
            return Coverage.composite
        out = self.of(group.out)
        return Coverage.made if out in OWN else out
