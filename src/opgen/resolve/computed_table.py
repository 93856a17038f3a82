"""One operator into its computed dispatch table: what is called for each runtime key, and why."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    LIBRARY_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.older_pythons import assert_never
from opgen.resolve.dispatch_tables import (
    Registration,
    RegistrationKind,
    find_registration,
)

_AUTOGRAD = "Autograd"
_SPARSE = "Sparse"
_SPARSE_CSR = "SparseCsr"
_NESTED = "NestedTensor"
_QUANTIZED = "Quantized"
_PREFIXES = (_AUTOGRAD, _SPARSE_CSR, _SPARSE, _NESTED, _QUANTIZED)

# One key of each functionality that has one for every backend: those of dense tensors are the
# backends' names.
_BACKENDS = tuple(
    key.name.removeprefix(_QUANTIZED) for key in DispatchKey if key.name.startswith(_QUANTIZED)
)
# Backends of one kind of tensor.
_SINGLE_BACKENDS = (
    DispatchKey.FPGA,
    DispatchKey.MAIA,
    DispatchKey.Vulkan,
    DispatchKey.Metal,
    DispatchKey.MKLDNN,
    DispatchKey.OpenGL,
    DispatchKey.OpenCL,
    DispatchKey.IDEEP,
    DispatchKey.CustomRNGKeyId,
    DispatchKey.MkldnnCPU,
)
# Backends that build graphs: kernels that allocate and then call out= variants are not for them.
_FUNCTIONAL_BACKENDS = ("XLA", "Lazy")

# Keys that stand for several, those with precedence first. Source: ATen's dispatcher, as it fills
# the tables of operators that have a kernel for one or for several of them.
_PRECEDENCE = (
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.Autograd,
)
# Keys that kernels are registered for although no entry names them.
_DERIVED = (DispatchKey.Meta, DispatchKey.BackendSelect)


class Cell(NamedTuple):
    """What a call with this runtime key reaches: `registration`, or nothing, for this `reason`."""

    key: DispatchKey
    registration: Registration | None
    reason: str


# Every key that a call can have, but for those that only stand for functionalities.
RUNTIME_KEYS: tuple[DispatchKey, ...] = tuple(
    key
    for key in DispatchKey
    if key not in COMPOSITE_DISPATCH_KEYS
    and key.name
    not in (
        "Undefined",
        "Dense",
        "Quantized",
        "Sparse",
        "SparseCsr",
        "NestedTensor",
        "AutogradFunctionality",
        "Autograd",
        "Autocast",
        "FuncTorchBatchedDecomposition",
        "ORT",
    )
)


def computed_table(registry: Registry, function: NativeFunction) -> tuple[Cell, ...]:
    """A cell for CPU, Meta and every other backend in use, for keys above them with a kernel, and BackendSelect."""
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
    """The computed table, and what a backend of one's own and autograd get without doing anything."""
    registered = _registered(registry, function)
    others = (DispatchKey.PrivateUse1, DispatchKey.AutogradCPU)
    shown = computed_table(registry, function)
    keys = {cell.key for cell in shown}
    return (*shown, *(_cell(function, key, registered) for key in others if key not in keys))


def whole_table(registry: Registry, function: NativeFunction) -> tuple[Cell, ...]:
    """A cell for every runtime key that there is, autograd's and those above it included."""
    registered = _registered(registry, function)
    return tuple(_cell(function, key, registered) for key in RUNTIME_KEYS)


def serving_alias(
    registry: Registry, function: NativeFunction, key: DispatchKey
) -> DispatchKey | None:
    """The composite key whose kernel is called for a runtime key that has none of its own."""
    return _serving_alias(key, _registered(registry, function))


def serving_key(key: DispatchKey, registered: Collection[DispatchKey]) -> DispatchKey | None:
    """The one of the `registered` keys whose kernel a call with the runtime key `key` reaches."""
    return key if key in registered else _serving_alias(key, registered)


def _registered(registry: Registry, function: NativeFunction) -> dict[DispatchKey, Registration]:
    """What is registered for the function, by key; the composites first, in order of precedence."""
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
    if alias is None:
        return Cell(key, None, _nothing_reason(function, key, registered))
    row = registered[alias]
    if alias is DispatchKey.Autograd:
        return Cell(key, row, f"{alias}: {_own_reason(row)}")
    if key.name.startswith(_AUTOGRAD):
        return Cell(key, row, f"{alias}: the gradient is that of the operators that it calls")
    return Cell(key, row, _alias_reason(row))


def serves(alias: DispatchKey, key: DispatchKey, registered: Collection[DispatchKey]) -> bool:
    """Whether a kernel for `alias` is called for the runtime key `key`, which has none itself."""
    nested = key.name.startswith(_NESTED) or key is DispatchKey.AutogradNestedTensor
    if alias is DispatchKey.Autograd:
        return key.name.startswith(_AUTOGRAD)
    if alias is DispatchKey.CompositeImplicitAutogradNestedTensor:
        return nested
    if key.name.startswith(_AUTOGRAD):
        # Its gradient follows from what it calls, unless a backend below has a kernel that does not
        # say how; explicit kernels never do.
        return (
            alias is DispatchKey.CompositeImplicitAutograd
            and DispatchKey.CompositeExplicitAutograd not in registered
            and not any(backend in registered for backend in _backends_below(key))
        )
    # What is above the backends has fallbacks of its own: Functionalize, Tracer, ZeroTensor, …
    if not is_backend(key):
        return False
    match alias:
        case DispatchKey.CompositeImplicitAutograd:
            # Even where the explicit kernel does not serve: it counts as a kernel of the backend.
            return DispatchKey.CompositeExplicitAutograd not in registered
        case DispatchKey.CompositeExplicitAutogradNonFunctional:
            functional = key.name.endswith(_FUNCTIONAL_BACKENDS) or _is_sparse(key)
            return not nested and not functional
        case _:
            return not nested


def _is_served(key: DispatchKey) -> bool:
    """Whether a call needs a kernel for it: without one for a key above the backends, it goes on."""
    return key in SUPPORTED_DISPATCH_KEYS or is_backend(key) or key.name.startswith(_AUTOGRAD)


def is_backend(key: DispatchKey) -> bool:
    """Whether tensors have it for the device and layout that they are of."""
    return key in _SINGLE_BACKENDS or _without_prefix(key) in _BACKENDS


def _backends_below(key: DispatchKey) -> tuple[DispatchKey, ...]:
    """The backends whose gradients an autograd key is for."""
    if key is DispatchKey.AutogradOther:
        several = (_SPARSE_CSR, _SPARSE, _QUANTIZED)
        names = [prefix + backend for prefix in several for backend in _BACKENDS]
        return (*_SINGLE_BACKENDS, *(DispatchKey[name] for name in names))
    if key is DispatchKey.AutogradNestedTensor:
        return tuple(DispatchKey[_NESTED + backend] for backend in _BACKENDS)
    return (DispatchKey[key.name.removeprefix(_AUTOGRAD)],)


def _without_prefix(key: DispatchKey) -> str:
    """CPU for SparseCsrCPU."""
    prefix = next((p for p in _PREFIXES if key.name.startswith(p)), "")
    return key.name.removeprefix(prefix)


def _is_sparse(key: DispatchKey) -> bool:
    return key.name.startswith(_SPARSE) and not key.name.startswith(_SPARSE_CSR)


def _own_reason(row: Registration) -> str:
    match row.kind:
        case RegistrationKind.unstructured:
            assert row.kernel is not None
            return f"its own kernel {row.kernel.name}"
        case RegistrationKind.structured:
            assert row.group is not None
            if row.kernel is None:
                return "the meta function of its structured group"
            if row.function is row.group.primary:
                return f"its own structured kernel {row.kernel.name}"
            return f"the structured kernel {row.kernel.name} of {row.group.primary.func.name}"
        case RegistrationKind.composite_structured:
            assert row.group is not None
            return f"allocates by its meta function, then calls {row.group.primary.func.name}"
        case RegistrationKind.existing:
            assert row.kernel is not None
            return f"the existing function {row.kernel.cpp_name}"
        case RegistrationKind.fallthrough:
            return "none: a call goes on to the next key"
        case RegistrationKind.meta_of_written:
            return "returns what is written, if anything: nothing is to be computed on meta tensors"
        case RegistrationKind.select_by_device:
            return "computes the backend from the device and the tensors, and dispatches again"
        case RegistrationKind.meta_inplace_stub:
            return "returns self: in-place on meta tensors, without a kernel for them"
        case RegistrationKind.backend_select:
            return "computes the backend from dtype, layout and device, and dispatches again"
        case RegistrationKind.external:
            return "the kernel of an external backend"
        case RegistrationKind.from_functional:
            return "copies the results of the external backend's functional kernel"
        case RegistrationKind.from_out:
            return "gives new tensors, or self, to the external backend's out kernel"
        case _:
            assert_never(row.kind)


def _alias_reason(row: Registration) -> str:
    """The reason, when `row` is registered for a key that stands for several."""
    if row.kind is RegistrationKind.composite_structured:
        return f"{row.key}: {_own_reason(row)}"
    if row.kind is RegistrationKind.fallthrough:
        return f"{row.key}: {_own_reason(row)}"
    if row.kernel is None:
        return f"{row.key}: the meta function makes the views on every backend"
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
