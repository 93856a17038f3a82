"""Compute the registrations of each dispatch key: which operators are registered for it, and with which functions."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from msgspec import Struct

from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    GUARDED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import Kernel, KernelSource, NativeFunction
from opgen.model.registry import OutlessGroup, Registry, StructuredGroup
from opgen.model.types import BaseTy, BaseType, OptionalType

_DEVICE = BaseType(BaseTy.Device)


class RegistrationKind(Enum):
    """The origin of the registered function."""

    # Calls the kernel that the entry names.
    unstructured = auto()
    # Calls the meta function and, if there is one for the key, the kernel of the group's primary member.
    structured = auto()
    # Calls the meta function, and the group's out variant through the dispatcher.
    composite_structured = auto()
    # An existing function, called without an adapter.
    existing = auto()
    # No function: the dispatcher goes on to the next key.
    fallthrough = auto()
    # Calls nothing; it only rejects tensors that are not meta tensors.
    meta_inplace_stub = auto()
    # Calls nothing; the operator returns only arguments that it writes.
    meta_of_written = auto()
    # Computes the key from dtype, layout and device, and dispatches again.
    backend_select = auto()
    # Computes the key from a device and the tensors, and dispatches again.
    select_by_device = auto()
    # A member function of an external backend's class.
    external = auto()
    # Calls the external kernel of the group's functional variant, and copies its results.
    from_functional = auto()
    # Calls the external kernel of the group's out variant with new tensors, or with self.
    from_out = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__


class Registration(Struct, frozen=True):
    """One operator, `function`, that has a function registered for `key`.

    `kernel` is the kernel that is called: the entry's own or, if structured, that of the group's primary member; None
    if no kernel is called. `device_guard` says whether functions of this key check the tensors' devices and set a guard.
    """

    function: NativeFunction
    key: DispatchKey
    kind: RegistrationKind
    kernel: Kernel | None
    group: StructuredGroup | None
    device_guard: bool


# Keys for which members of structured groups are registered even if their entries do not name them.
_OF_STRUCTURED = (
    DispatchKey.Meta,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


_BY_SOURCE = {
    KernelSource.author: RegistrationKind.unstructured,
    KernelSource.existing: RegistrationKind.existing,
    KernelSource.fallthrough: RegistrationKind.fallthrough,
}
# Existing functions check and guard devices themselves.
_UNGUARDED = (RegistrationKind.existing, RegistrationKind.fallthrough)


def registrations_by_key(registry: Registry) -> dict[DispatchKey, tuple[Registration, ...]]:
    """Return the registrations of each key that has some: keys in the registry's order, BackendSelect last.

    The rows of a key are in the order of the functions; members of a group follow its first member.
    """
    found: dict[DispatchKey, list[Registration]] = {}
    for function, group in members_with_groups(registry):
        for key in _possible_keys(function, group):
            row = _find_registration(function, group, key)
            if row is not None:
                found.setdefault(key, []).append(row)
    order = dict.fromkeys((*registry.dispatch_keys, DispatchKey.BackendSelect))
    return {key: tuple(found[key]) for key in order if key in found}


def _possible_keys(
    function: NativeFunction, group: StructuredGroup | None
) -> Iterator[DispatchKey]:
    """Return every key that `function` may be registered for: the keys that its entry names, and those implied."""
    keys = [key for key, _ in function.dispatch]
    if group is not None and group.structured:
        keys += [key for key, _ in group.primary.dispatch]
        keys += _OF_STRUCTURED
    elif function.func.kind() is SchemaKind.inplace or function.is_library:
        keys.append(DispatchKey.Meta)
    if function.func.arguments.tensor_options is not None or function.is_library:
        keys.append(DispatchKey.BackendSelect)
    return iter(dict.fromkeys(keys))


def find_registration(
    registry: Registry, function: NativeFunction, key: DispatchKey
) -> Registration | None:
    """Return the registration of `function` for `key`, or None."""
    group = registry.structured_group_of(function) or registry.group_of(function)
    return _find_registration(function, group, key)


def needs_backend_select(function: NativeFunction) -> bool:
    """Return whether tensor options choose the backend.

    They do not for operators named `new_*` and `*_like`, which dispatch on a tensor argument.
    """
    name = str(function.func.name.name)
    return (
        function.func.arguments.tensor_options is not None
        and not name.endswith("_like")
        and not name.startswith("new_")
    )


def selects_backend(function: NativeFunction) -> bool:
    """Return whether an argument other than a tensor chooses the backend.

    These are tensor options and, in a library, a device, if no argument has the type Tensor.
    """
    if needs_backend_select(function):
        return True
    if not function.is_library or function.has_composite_kernel:
        return False
    arguments = function.func.arguments.flat_all
    return find_device(function) is not None and not any(a.type == TENSOR for a in arguments)


def find_device(function: NativeFunction) -> int | None:
    """Return the position of the first argument of type Device or Device?, or None."""
    for position, a in enumerate(function.func.arguments.flat_all):
        if a.type in (_DEVICE, OptionalType(_DEVICE)):
            return position
    return None


def members_with_groups(
    registry: Registry,
) -> Iterator[tuple[NativeFunction, StructuredGroup | None]]:
    """Yield every function with its group; members of a group are adjacent."""
    # Groups are found by the identity of functions: hashing a name for each function and key takes ten times as long.
    groups: tuple[StructuredGroup, ...] = (*registry.groups, *registry.outless_groups)
    group_of = {id(f): group for group in groups for f in group.functions()}
    done = set()
    for function in registry.functions:
        group = group_of.get(id(function))
        if group is None:
            yield function, None
        elif id(group) not in done:
            done.add(id(group))
            yield from ((member, group) for member in group.functions())


def _find_registration(
    function: NativeFunction, group: StructuredGroup | None, key: DispatchKey
) -> Registration | None:
    if key is DispatchKey.BackendSelect and function.find_kernel(key) is None:
        if not selects_backend(function):
            return None
        by_options = needs_backend_select(function)
        selects = (
            RegistrationKind.backend_select if by_options else RegistrationKind.select_by_device
        )
        return Registration(function, key, selects, None, group, False)
    if function.manual_kernel_registration:
        return None
    kind, kernel = _find_source(function, group, key)
    if kind is None:
        return None
    guards = key in GUARDED_DISPATCH_KEYS and kind not in _UNGUARDED
    return Registration(function, key, kind, kernel, group, guards)


def serves_by_meta_alone(group: OutlessGroup) -> bool:
    """Return whether the meta function creates all outputs on every backend, without a composite kernel."""
    return group.all_views and not group.primary.has_composite_kernel


def _find_source(
    function: NativeFunction, group: StructuredGroup | None, key: DispatchKey
) -> tuple[RegistrationKind | None, Kernel | None]:
    if group is not None and group.structured:
        if key is DispatchKey.Meta:
            return RegistrationKind.structured, None
        kernel = group.primary.find_kernel(key)
        if kernel is not None and kernel.structured:
            return RegistrationKind.structured, kernel
        if isinstance(group, OutlessGroup):
            if key is DispatchKey.CompositeExplicitAutograd and serves_by_meta_alone(group):
                return RegistrationKind.structured, None
        elif key is DispatchKey.CompositeExplicitAutogradNonFunctional:
            # Backends supply the out variant, so it has no composite kernel.
            is_out = function.func.kind() is SchemaKind.out
            return None if is_out else RegistrationKind.composite_structured, None
    own = function.find_kernel(key)
    if own is not None:
        return _BY_SOURCE.get(own.source), own
    if key is DispatchKey.Meta:
        if has_meta_of_written(function):
            return RegistrationKind.meta_of_written, None
        # It does nothing to meta tensors and returns its argument. Those with a composite kernel call that; those that
        # return nothing work on lists.
        is_inplace = function.func.kind() is SchemaKind.inplace and len(function.func.returns) == 1
        if is_inplace and not function.is_library and not function.has_composite_kernel:
            return RegistrationKind.meta_inplace_stub, None
    return None, None


def has_meta_of_written(function: NativeFunction) -> bool:
    """Return whether a library's operator returns only arguments that it writes, so that Meta computes nothing.

    A composite kernel serves Meta, too, unless it has effects, which tracing must not have.
    """
    if not function.is_library or function.fake is not None:
        return False
    if function.effects is not None:
        return not function.func.returns
    return not function.has_composite_kernel and function.func.returns_only_written()


# Prefixes of the names of keys above the backends.
_ABOVE_BACKENDS = (
    *("Autograd", "Autocast", "Batched", "FuncTorch", "Python", "TESTING_ONLY", "VmapMode"),
    *("ADInplaceOrView", "BackendSelect", "Conjugate", "DeferredInit", "Fake", "Functionalize"),
    *("Named", "Negative", "PreDispatch", "Tracer", "ZeroTensor"),
)


def lacks_fake(registry: Registry, f: NativeFunction) -> bool:
    """Return whether `f` has a backend kernel, but no kernel or `fake` rule for tensors without data."""
    return (
        f.is_library
        and f.fake is None
        and not f.has_composite_kernel
        and not f.manual_kernel_registration
        and first_backend_key(f) is not None
        and find_registration(registry, f, DispatchKey.Meta) is None
    )


# The kernels that compute results without data, the first that there is.
_WITHOUT_DATA = (
    DispatchKey.Meta,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


def key_of_fake(registry: Registry, f: NativeFunction) -> DispatchKey | None:
    """Return the key of the kernel by which generated code knows the results of `f` without data; None without one.

    An operator that decomposes, and one with a `fake` line, needs none. An existing function is registered for PyTorch.
    """
    if f.fake is not None or f.has_composite_implicit_autograd_kernel:
        return None
    for key in _WITHOUT_DATA:
        row = find_registration(registry, f, key)
        if row is not None:
            return None if row.kind is RegistrationKind.existing else key
    return None


def first_backend_key(f: NativeFunction) -> DispatchKey | None:
    """Return the first backend key of the dispatch table that has a kernel."""
    for key, kernel in f.dispatch:
        above = key in COMPOSITE_DISPATCH_KEYS or key.name.startswith(_ABOVE_BACKENDS)
        if not above and kernel.source is not KernelSource.fallthrough:
            return key
    return None
