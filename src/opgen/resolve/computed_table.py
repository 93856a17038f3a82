"""One operator into its computed dispatch table: what is called for each runtime key, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from typing_extensions import assert_never

from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.dispatch_tables import (
    Registration,
    RegistrationKind,
    find_registration,
)

_SPARSE = "Sparse"
_SPARSE_CSR = "SparseCsr"
_NESTED = "NestedTensor"

# Keys that stand for several, those with precedence first. Source: ATen's dispatcher, as it fills
# the tables of operators that have a kernel for one or for several of them.
_PRECEDENCE = (
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
    DispatchKey.CompositeImplicitAutograd,
)


class Cell(NamedTuple):
    """What a call with this runtime key reaches: `registration`, or nothing, for this `reason`."""

    key: DispatchKey
    registration: Registration | None
    reason: str


def computed_table(registry: Registry, function: NativeFunction) -> tuple[Cell, ...]:
    """A cell for CPU, Meta and every other runtime key in use, and for BackendSelect if it acts."""
    composite = _composites(registry, function)
    keys = {DispatchKey.CPU, DispatchKey.Meta, *registry.dispatch_keys}
    cells = [
        _cell(registry, function, key, composite)
        for key in SUPPORTED_DISPATCH_KEYS
        if key in keys and key not in COMPOSITE_DISPATCH_KEYS
    ]
    select = find_registration(registry, function, DispatchKey.BackendSelect)
    if select is not None:
        cells.insert(0, Cell(DispatchKey.BackendSelect, select, _own_reason(select)))
    return tuple(cells)


def serving_alias(
    registry: Registry, function: NativeFunction, key: DispatchKey
) -> DispatchKey | None:
    """The composite key whose kernel is called for a runtime key that has none of its own."""
    return _serving_alias(key, _composites(registry, function))


def _composites(registry: Registry, function: NativeFunction) -> dict[DispatchKey, Registration]:
    return {
        key: found
        for key in _PRECEDENCE
        if (found := find_registration(registry, function, key)) is not None
    }


def _serving_alias(
    key: DispatchKey, composite: Mapping[DispatchKey, Registration]
) -> DispatchKey | None:
    return next((a for a in _PRECEDENCE if a in composite and serves(a, key, composite)), None)


def _cell(
    registry: Registry,
    function: NativeFunction,
    key: DispatchKey,
    composite: Mapping[DispatchKey, Registration],
) -> Cell:
    own = find_registration(registry, function, key)
    if own is not None:
        return Cell(key, own, _own_reason(own))
    alias = _serving_alias(key, composite)
    if alias is None:
        return Cell(key, None, _nothing_reason(function, key, composite))
    return Cell(key, composite[alias], _alias_reason(composite[alias]))


def serves(
    alias: DispatchKey, key: DispatchKey, registered: Mapping[DispatchKey, Registration]
) -> bool:
    """Whether a kernel for `alias` is called for the runtime key `key`, which has none itself."""
    nested = key.name.startswith(_NESTED)
    # Every backend has a fallback of its own for ZeroTensor.
    if key is DispatchKey.ZeroTensor:
        return False
    if alias is DispatchKey.CompositeImplicitAutogradNestedTensor:
        return nested
    if alias is DispatchKey.CompositeImplicitAutograd:
        # Even where the explicit kernel does not serve: it counts as a kernel of the backend.
        return DispatchKey.CompositeExplicitAutograd not in registered
    if alias is DispatchKey.CompositeExplicitAutogradNonFunctional and _is_sparse(key):
        return False
    return not nested


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
            if row.function is row.group.out:
                return f"its own structured kernel {row.kernel.name}"
            return f"the structured kernel {row.kernel.name} of {row.group.out.func.name}"
        case RegistrationKind.composite_structured:
            assert row.group is not None
            return f"allocates by its meta function, then calls {row.group.out.func.name}"
        case RegistrationKind.meta_inplace_stub:
            return "returns self: in-place on meta tensors, without a kernel for them"
        case RegistrationKind.backend_select:
            return "computes the backend from dtype, layout and device, and dispatches again"
        case RegistrationKind.external:
            return "the kernel of an external backend"
        case RegistrationKind.from_functional:
            return "copies the results of the external backend's functional kernel"
        case _:
            assert_never(row.kind)


def _alias_reason(row: Registration) -> str:
    """The reason, when `row` is registered for a key that stands for several."""
    if row.kind is RegistrationKind.composite_structured:
        return f"{row.key}: {_own_reason(row)}"
    assert row.kernel is not None
    return f"{row.key}: the kernel {row.kernel.name} serves every backend without one of its own"


def _nothing_reason(
    function: NativeFunction, key: DispatchKey, composite: Mapping[DispatchKey, Registration]
) -> str:
    if function.manual_kernel_registration:
        return "registered by hand"
    if not composite:
        return "no kernel for this key, and none that serves every backend"
    names = " and ".join(str(alias) for alias in composite)
    return f"no kernel for this key, and {names} does not serve it"
