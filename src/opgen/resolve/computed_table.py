"""Compute the dispatch table of one operator: the kernel that each runtime key calls, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum

from msgspec import Struct

from opgen.model.backend import ExternalBackend
from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    LIBRARY_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.native_function import KernelSource, NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.backend import backend_registrations
from opgen.resolve.dispatch_tables import Registration, RegistrationKind, find_registration

_AUTOGRAD = "Autograd"
_SPARSE = "Sparse"
_SPARSE_CSR = "SparseCsr"
_NESTED = "NestedTensor"
_QUANTIZED = "Quantized"
_PREFIXES = (_AUTOGRAD, _SPARSE_CSR, _SPARSE, _NESTED, _QUANTIZED)

# The prefix of each functionality that has one key per backend: the keys of dense tensors are the
# names of the backends.
_BACKENDS = tuple(
    key.name.removeprefix(_QUANTIZED) for key in DispatchKey if key.name.startswith(_QUANTIZED)
)
# Backends of one kind of tensor.
_SINGLE_BACKENDS = (
    *(DispatchKey.FPGA, DispatchKey.MAIA, DispatchKey.Vulkan, DispatchKey.Metal),
    *(DispatchKey.MKLDNN, DispatchKey.OpenGL, DispatchKey.OpenCL, DispatchKey.IDEEP),
    *(DispatchKey.CustomRNGKeyId, DispatchKey.MkldnnCPU),
)
# Backends that build graphs: they cannot use kernels that allocate and then call out= variants.
_FUNCTIONAL_BACKENDS = ("XLA", "Lazy")

# Alias keys, those with precedence first. Source: the tables that ATen's dispatcher computes for operators
# with kernels for one or several of them.
_PRECEDENCE = (
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.Autograd,
)
# Keys for which kernels are registered although no entry names them.
_DERIVED = (DispatchKey.Meta, DispatchKey.BackendSelect)


class Cell(Struct, frozen=True):
    """The target of calls with this runtime key: `registration`, or None, for this `reason`."""

    key: DispatchKey
    registration: Registration | None
    reason: str


# Every key that a call can have, except those that only name functionalities.
_NOT_OF_CALLS = (
    *("Undefined", "Dense", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "ORT"),
    *("AutogradFunctionality", "Autograd", "Autocast", "FuncTorchBatchedDecomposition"),
)
RUNTIME_KEYS: tuple[DispatchKey, ...] = tuple(
    key
    for key in DispatchKey
    if key not in COMPOSITE_DISPATCH_KEYS and key.name not in _NOT_OF_CALLS
)


# The reason of a cell whose kernel is a row `python`.
PYTHON_REASON = "ops.py of the package registers it with torch.library.impl"


def computed_table(registry: Registry, function: NativeFunction) -> tuple[Cell, ...]:
    """Return a cell for CPU, Meta and every other backend in use, for keys above them with a kernel, and BackendSelect."""
    registered = _registered(registry, function)
    keys = {DispatchKey.CPU, DispatchKey.Meta, *registry.dispatch_keys}
    cells = [
        _cell(function, key, registered)
        for key in LIBRARY_DISPATCH_KEYS
        if key in keys and key in RUNTIME_KEYS and (key in registered or _is_served(key))
    ]
    select = registered.get(DispatchKey.BackendSelect)
    if select is not None and DispatchKey.BackendSelect not in keys:
        cells.insert(0, Cell(DispatchKey.BackendSelect, select, _own_reason(select)))
    return tuple(cells)


def explained_table(registry: Registry, function: NativeFunction) -> tuple[Cell, ...]:
    """Return the computed table, and the kernels that a new backend and autograd get by default."""
    registered = _registered(registry, function)
    others = (DispatchKey.PrivateUse1, DispatchKey["AutogradCPU"])
    shown = computed_table(registry, function)
    keys = {cell.key for cell in shown}
    return (*shown, *(_cell(function, key, registered) for key in others if key not in keys))


def serving_alias(
    registry: Registry, function: NativeFunction, key: DispatchKey
) -> DispatchKey | None:
    """Return the composite key whose kernel serves a runtime key that has none of its own."""
    return _serving_alias(key, _registered(registry, function))


def _registered(registry: Registry, function: NativeFunction) -> dict[DispatchKey, Registration]:
    """Return the registrations of the function by key; composites first, in order of precedence."""
    keys = dict.fromkeys((*_PRECEDENCE, *registry.dispatch_keys, *_DERIVED))
    return {
        key: found
        for key in keys
        if (found := find_registration(registry, function, key)) is not None
    }


def _serving_alias(key: DispatchKey, registered: Collection[DispatchKey]) -> DispatchKey | None:
    return next((a for a in _PRECEDENCE if a in registered and serves(a, key, registered)), None)


def _cell(
    function: NativeFunction, key: DispatchKey, registered: dict[DispatchKey, Registration]
) -> Cell:
    own = registered.get(key)
    if own is not None:
        return Cell(key, own, _own_reason(own))
    alias = _serving_alias(key, registered)
    if alias is None and any(
        kernel.source is KernelSource.python
        and (k is key or (k in _PRECEDENCE and serves(k, key, ())))
        for k, kernel in function.dispatch
    ):
        return Cell(key, None, PYTHON_REASON)
    if alias is None:
        return Cell(key, None, _nothing_reason(function, key, registered))
    row = registered[alias]
    if alias is DispatchKey.Autograd:
        return Cell(key, row, f"{alias}: {_own_reason(row)}")
    if key.name.startswith(_AUTOGRAD):
        return Cell(key, row, f"{alias}: the gradient is that of the operators that it calls")
    return Cell(key, row, _alias_reason(row))


def serves(alias: DispatchKey, key: DispatchKey, registered: Collection[DispatchKey]) -> bool:
    """Return whether the kernel for `alias` serves the runtime key `key`, which has none itself."""
    nested = key.name.startswith(_NESTED) or key is DispatchKey.AutogradNestedTensor
    if alias is DispatchKey.Autograd:
        return key.name.startswith(_AUTOGRAD)
    if alias is DispatchKey.CompositeImplicitAutogradNestedTensor:
        return nested
    if key.name.startswith(_AUTOGRAD):
        # Its gradient follows from the operators that it calls, unless a backend below has its own kernel;
        # explicit kernels have no gradient.
        return (
            alias is DispatchKey.CompositeImplicitAutograd
            and DispatchKey.CompositeExplicitAutograd not in registered
            and not any(backend in registered for backend in _backends_below(key))
        )
    # Keys above the backends have fallbacks of their own: Functionalize, Tracer, ZeroTensor, …
    if not is_backend(key):
        return False
    match alias:
        case DispatchKey.CompositeImplicitAutograd:
            # Even if the explicit kernel is not used: it counts as a kernel of the backend.
            return DispatchKey.CompositeExplicitAutograd not in registered
        case DispatchKey.CompositeExplicitAutogradNonFunctional:
            is_sparse = key.name.startswith(_SPARSE) and not key.name.startswith(_SPARSE_CSR)
            return not (nested or is_sparse or key.name.endswith(_FUNCTIONAL_BACKENDS))
        case _:
            return not nested


def _is_served(key: DispatchKey) -> bool:
    """Return whether a call needs a kernel for the key. Without one for a key above the backends, it falls through."""
    return key in SUPPORTED_DISPATCH_KEYS or is_backend(key) or key.name.startswith(_AUTOGRAD)


def is_backend(key: DispatchKey) -> bool:
    """Return whether tensors have the key for their device and layout."""
    prefix = next((p for p in _PREFIXES if key.name.startswith(p)), "")
    return key in _SINGLE_BACKENDS or key.name.removeprefix(prefix) in _BACKENDS


def _backends_below(key: DispatchKey) -> tuple[DispatchKey, ...]:
    """Return the backends whose gradients an autograd key computes."""
    if key is DispatchKey.AutogradOther:
        several = (_SPARSE_CSR, _SPARSE, _QUANTIZED)
        names = [prefix + backend for prefix in several for backend in _BACKENDS]
        return (*_SINGLE_BACKENDS, *(DispatchKey[name] for name in names))
    if key is DispatchKey.AutogradNestedTensor:
        return tuple(DispatchKey[_NESTED + backend] for backend in _BACKENDS)
    return (DispatchKey[key.name.removeprefix(_AUTOGRAD)],)


_Kind = RegistrationKind
# The reason of a row of each kind; {0} is the row.
_REASONS = {
    _Kind.unstructured: "its own kernel {0.kernel.name}",
    _Kind.structured: "the structured kernel {0.kernel.name} of {0.group.primary.func.name}",
    _Kind.composite_structured: "allocates by its meta function, then calls {0.group.primary.func.name}",
    _Kind.existing: "the existing function {0.kernel.cpp_name}",
    _Kind.fallthrough: "none: a call goes on to the next key",
    _Kind.meta_of_written: "returns the written arguments, if any: meta tensors have no values to compute",
    _Kind.select_by_device: "computes the backend from the device and the tensors, and dispatches again",
    _Kind.meta_inplace_stub: "returns self: in-place on meta tensors, without a kernel for them",
    _Kind.backend_select: "computes the backend from dtype, layout and device, and dispatches again",
    _Kind.external: "the kernel of an external backend",
    _Kind.from_functional: "copies the results of the external backend's functional kernel",
    _Kind.from_out: "gives new tensors, or self, to the external backend's out kernel",
}


def _own_reason(row: Registration) -> str:
    if row.kind is RegistrationKind.structured and row.kernel is None:
        return "the meta function of its structured group"
    is_primary = row.group is not None and row.function is row.group.primary
    if row.kind is RegistrationKind.structured and row.kernel is not None and is_primary:
        return f"its own structured kernel {row.kernel.name}"
    return _REASONS[row.kind].format(row)


def _alias_reason(row: Registration) -> str:
    """Return the reason of a `row` that is registered for an alias key."""
    if row.kind in (RegistrationKind.composite_structured, RegistrationKind.fallthrough):
        return f"{row.key}: {_own_reason(row)}"
    if row.kernel is None:
        return f"{row.key}: the meta function creates the views on every backend"
    if row.kind is RegistrationKind.existing:
        return f"{row.key}: {_own_reason(row)} serves every backend without one of its own"
    return f"{row.key}: the kernel {row.kernel.name} serves every backend without one of its own"


def _nothing_reason(
    function: NativeFunction, key: DispatchKey, registered: Collection[DispatchKey]
) -> str:
    if function.manual_kernel_registration:
        return "registered by hand"
    if key.name.startswith(_AUTOGRAD):
        return "no kernel for autograd: a call goes on to its backend"
    if not _is_served(key):
        return (
            "no kernel for this key: a call goes on to the next, if PyTorch has no fallback for it"
        )
    composite = [str(a) for a in _PRECEDENCE if a in registered and a is not DispatchKey.Autograd]
    if not composite:
        return "no kernel for this key, and none that serves every backend"
    return f"no kernel for this key, and {' and '.join(composite)} does not serve it"


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
