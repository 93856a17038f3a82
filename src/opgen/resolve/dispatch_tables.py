"""A Registry into what is registered for each dispatch key: which operators, and from what."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from opgen.dataclasses import dataclass
from opgen.model.dispatch_key import (
    DispatchKey,
    is_cuda_dispatch_key,
    is_xpu_dispatch_key,
)
from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import Kernel, KernelSource, NativeFunction
from opgen.model.registry import OutlessGroup, Registry, StructuredGroup
from opgen.model.types import BaseTy, BaseType, OptionalType

_DEVICE = BaseType(BaseTy.Device)


class RegistrationKind(Enum):
    """What a registered function is made from."""

    # The kernel that the entry names.
    unstructured = auto()
    # The meta function and, if there is one for the key, the kernel of the group's primary member.
    structured = auto()
    # The meta function and a call of the group's out variant through the dispatcher.
    composite_structured = auto()
    # A function that is there, called as it is.
    existing = auto()
    # None: the dispatcher goes on to the next key.
    fallthrough = auto()
    # Nothing: it only refuses tensors that are not meta tensors.
    meta_inplace_stub = auto()
    # Nothing: all that the operator returns are arguments that it writes.
    meta_of_written = auto()
    # Nothing: it computes the key from dtype, layout and device, and dispatches again.
    backend_select = auto()
    # Nothing: it computes the key from a device and the tensors, and dispatches again.
    select_by_device = auto()
    # A member of an external backend's class.
    external = auto()
    # The external kernel of the group's functional variant, whose results are copied.
    from_functional = auto()
    # The external kernel of the group's out variant, which is given new tensors, or self.
    from_out = auto()

    # In C, by identity: Enum's own goes through Python.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Registration:
    """`function` is registered for `key`.

    `kernel` is the entry's own or, if structured, that of the group's primary; None if none is
    called. `device_guard` says whether functions of this key check and guard devices.
    """

    function: NativeFunction
    key: DispatchKey
    kind: RegistrationKind
    kernel: Kernel | None
    group: StructuredGroup | None
    device_guard: bool


# What is registered for members of structured groups, whatever their entries name.
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
# Functions that are there look after devices themselves.
_UNGUARDED = (RegistrationKind.existing, RegistrationKind.fallthrough)


def registrations_by_key(registry: Registry) -> dict[DispatchKey, tuple[Registration, ...]]:
    """What is registered for each key, in the order of the registry's keys, BackendSelect last.

    The rows of a key stand as the functions do, those of a group at the place of its first member.
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
    """Every key that `function` may be registered for: those named, and those that follow."""
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
    """What is registered for `function` at `key`."""
    group = registry.structured_group_of(function) or registry.group_of(function)
    return _find_registration(function, group, key)


def needs_backend_select(function: NativeFunction) -> bool:
    """Whether the backend is chosen by tensor options: a factory that is given no tensor to be like.

    Operators named `new_*` and `*_like` dispatch on the tensor that they are given.
    """
    name = str(function.func.name.name)
    return (
        function.func.arguments.tensor_options is not None
        and not name.endswith("_like")
        and not name.startswith("new_")
    )


def selects_backend(function: NativeFunction) -> bool:
    """Whether the backend is chosen by what a call says besides its tensors.

    By tensor options; in a library also by a device, if there is no argument that is always a Tensor.
    """
    if needs_backend_select(function):
        return True
    if not function.is_library or function.has_composite_kernel:
        return False
    arguments = function.func.arguments.flat_all
    return find_device(function) is not None and not any(a.type == TENSOR for a in arguments)


def find_device(function: NativeFunction) -> int | None:
    """The position of the first argument that is a device."""
    for position, a in enumerate(function.func.arguments.flat_all):
        if a.type in (_DEVICE, OptionalType(_DEVICE)):
            return position
    return None


def members_with_groups(
    registry: Registry,
) -> Iterator[tuple[NativeFunction, StructuredGroup | None]]:
    """Every function with its group, the members of a group together."""
    # By identity: hashing a name for each function and each key takes ten times as long.
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
    guards = _guards_devices(key) and kind not in _UNGUARDED
    return Registration(function, key, kind, kernel, group, guards)


def serves_by_meta_alone(group: OutlessGroup) -> bool:
    """Whether the meta function makes all outputs on every backend, and no composite kernel does."""
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
            return _composite_structured(function), None
    own = function.find_kernel(key)
    if own is not None:
        return _BY_SOURCE[own.source], own
    if key is DispatchKey.Meta:
        if has_meta_of_written(function):
            return RegistrationKind.meta_of_written, None
        if _has_meta_inplace_stub(function):
            return RegistrationKind.meta_inplace_stub, None
    return None, None


def has_meta_of_written(function: NativeFunction) -> bool:
    """Whether nothing has to be computed for Meta: an operator of a library returns what it writes, if anything.

    What an optional argument is returned as is not known, since it need not be given.
    """
    arguments = {a.name: a for a in function.func.arguments.flat_all}
    if (
        not function.is_library
        or function.fake is not None
        or function.has_composite_kernel
        or not any(a.type.is_tensor_like() for a in arguments.values())
    ):
        return False
    returned = zip(function.func.aliased_return_names(), function.func.returns)
    return all(
        name is not None and value.is_write and not arguments[name].type.is_nullable()
        for name, value in returned
    )


def _composite_structured(function: NativeFunction) -> RegistrationKind | None:
    # The out variant is what a backend supplies, so nothing stands in for it.
    if function.func.kind() is SchemaKind.out:
        return None
    return RegistrationKind.composite_structured


def _has_meta_inplace_stub(function: NativeFunction) -> bool:
    """An in-place operator does nothing to meta tensors, if it returns what it is given.

    With a composite kernel that one is called; one that returns nothing works on lists.
    """
    return (
        function.func.kind() is SchemaKind.inplace
        and not function.is_library
        and not function.has_composite_kernel
        and len(function.func.returns) == 1
    )


def _guards_devices(key: DispatchKey) -> bool:
    return is_cuda_dispatch_key(key) or is_xpu_dispatch_key(key)
