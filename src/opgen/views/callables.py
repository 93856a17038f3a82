"""The C++ expression that names the function registered for one operator and key."""

from __future__ import annotations

from typing import TypeAlias

from opgen.cpp.cpp_types import returns_references
from opgen.cpp.names import kernel_namespace
from opgen.cpp.signatures import DispatcherSignature, NativeSignature
from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import DeviceCheckType, NativeFunction
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup
from opgen.older_pythons import assert_never
from opgen.resolve.dispatch_tables import Registration, RegistrationKind, find_device
from opgen.views.context import Context
from opgen.views.kernel_set import meta_class
from opgen.views.text import operator_struct

_Signature: TypeAlias = NativeSignature | DispatcherSignature

# The runtime's class template for each kind of member of a structured group.
_VARIANTS = {
    SchemaKind.functional: "Functional",
    SchemaKind.inplace: "Inplace",
    SchemaKind.out: "Out",
}


def callable_text(context: Context, row: Registration) -> str:
    """A qualified function name whose type is the operator's dispatcher signature."""
    match row.kind:
        case RegistrationKind.structured:
            return _checked(context, row, _structured(row))
        case RegistrationKind.composite_structured:
            return _composite_structured(row)
        case RegistrationKind.meta_inplace_stub:
            return f"opgen::MetaInplaceStub<{operator_struct(row.function)}>::call"
        case RegistrationKind.meta_of_written:
            return _meta_of_written(context, row.function)
        case RegistrationKind.existing:
            return _existing(context, row)
        case RegistrationKind.fallthrough:
            raise AssertionError("nothing is called")
        case RegistrationKind.backend_select:
            return _backend_select(row.function)
        case RegistrationKind.select_by_device:
            device = find_device(row.function)
            return f"opgen::BackendSelectByDevice<{operator_struct(row.function)}, {device}>::call"
        case RegistrationKind.unstructured:
            return _unstructured(context, row)
        case RegistrationKind.external:
            return _external(context, row, row.function)
        case RegistrationKind.from_functional:
            return _from_functional(context, row)
        case RegistrationKind.from_out:
            return _from_out(context, row)
        case _:
            assert_never(row.kind)


def _structured(row: Registration) -> str:
    """`opgen::Functional<opgen::DispatchKey::CPU, at::native::structured_k, at::_ops::f>::call`."""
    assert row.group is not None
    if row.kernel is None:
        implementation = meta_class(row.group)
    else:
        namespace = kernel_namespace(row.group.primary.namespace, row.kernel.namespace)
        implementation = f"{namespace}::structured_{row.kernel.name}"
    key = f"opgen::DispatchKey::{row.key.name}"
    if isinstance(row.group, OutlessGroup) and row.group.has_views:
        return _view(row.group, row.function, key, implementation)
    return _variant("", row.function, key, implementation)


def _checked(context: Context, row: Registration, function: str) -> str:
    """`function`, behind a check that the tensors share a device, where the target makes one.

    Source: ATen's structured wrappers check what its unstructured ones do.
    """
    f = row.function
    wanted = row.device_guard and f.device_check is not DeviceCheckType.NoCheck
    if not (wanted and context.target.checks_structured):
        return function
    positions = f"{context.target.spelling.standard}index_sequence<{_checked_positions(f)}>"
    return f"opgen::DeviceChecked<{operator_struct(f)}, &{function}, {positions}>::call"


def _checked_positions(f: NativeFunction) -> str:
    """Of the outs and the positional tensors, as ATen checks them; never of keyword-only ones."""
    every = list(f.func.arguments.flat_all)
    arguments = (*f.func.arguments.out, *f.func.arguments.flat_positional)
    return ", ".join(str(every.index(a)) for a in arguments if a.type.is_tensor_like())


def _view(group: OutlessGroup, f: NativeFunction, key: str, implementation: str) -> str:
    """`opgen::View<opgen::DispatchKey::Meta, at::meta::structured_f, at::_ops::f, opgen::Bases<0>>::call`."""
    parameters = f"{key}, {implementation}, {operator_struct(f)}"
    if f is not group.functional:
        return f"opgen::InplaceView<{parameters}, {_self_position(f)}>::call"
    bases = ", ".join(map(str, group.bases()))
    return f"opgen::View<{parameters}, opgen::Bases<{bases}>>::call"


def _composite_structured(row: Registration) -> str:
    assert isinstance(row.group, NativeFunctionsGroup)
    out = operator_struct(row.group.out)
    variant = _VARIANTS[row.function.func.kind()]
    arguments = [meta_class(row.group), operator_struct(row.function), out]
    if variant == "Inplace":
        arguments.append(str(_self_position(row.function)))
    return f"opgen::Composite{variant}<{', '.join(arguments)}>::call"


def _variant(prefix: str, f: NativeFunction, *arguments: str) -> str:
    variant = _VARIANTS[f.func.kind()]
    parameters = [*arguments, operator_struct(f)]
    if variant == "Inplace":
        parameters.append(str(_self_position(f)))
    return f"opgen::{prefix}{variant}<{', '.join(parameters)}>::call"


def _backend_select(f: NativeFunction) -> str:
    names = [a.name for a in f.func.arguments.flat_all]
    return f"opgen::BackendSelect<{operator_struct(f)}, {names.index('dtype')}>::call"


def _existing(context: Context, row: Registration) -> str:
    """`opgen::Existing<ns::_ops::f, &::ns::f>::call`; with the positions of what is returned by reference."""
    assert row.kernel is not None
    f = row.function
    parameters = f"{operator_struct(f)}, &{row.kernel.cpp_name}"
    if returns_references(f):
        parameters += f", {_returned(context, f)}"
    return f"opgen::Existing<{parameters}>::call"


def _meta_of_written(context: Context, f: NativeFunction) -> str:
    """`opgen::MetaOfWritten<ns::_ops::f, index_sequence<0>>::call`: the positions of what is returned."""
    return f"opgen::MetaOfWritten<{operator_struct(f)}, {_returned(context, f)}>::call"


def _returned(context: Context, f: NativeFunction) -> str:
    """The positions of the arguments that are returned."""
    every = [a.name for a in f.func.arguments.flat_all]
    names = f.func.aliased_return_names()
    returned = ", ".join(str(every.index(name)) for name in names if name is not None)
    return f"{context.target.spelling.standard}index_sequence<{returned}>"


def _unstructured(context: Context, row: Registration) -> str:
    f = row.function
    assert row.kernel is not None
    namespace = kernel_namespace(f.namespace, row.kernel.namespace)
    function = f"{namespace}::opgen_{row.kernel.name}::call"
    native = context.signatures.native(f, symint=row.kernel.supports_symint)
    return _apart(context, f, _adapted(context, f, row, native, function))


def _apart(context: Context, f: NativeFunction, function: str) -> str:
    """`opgen::ApartOut<ns::_ops::f_out, &function, 1, false>::call`: an author's out= kernel, which need not look at
    what memory its outputs share with its inputs. Of an elementwise operator an output may be an input.

    Source: PyTorch leaves it to the kernels, of which those that forget it are wrong in silence.
    """
    arguments = f.func.arguments
    outs = len(arguments.out)
    written = f.func.kind() is SchemaKind.out and "generated" not in f.tags
    if not (written and context.target.checks_outs and _has_input_tensors(f)):
        return function
    group = context.registry.group_of(f)
    tags = f.tags if group is None else frozenset().union(*(g.tags for g in group.functions()))
    elementwise = "true" if "pointwise" in tags else "false"
    return f"opgen::ApartOut<{operator_struct(f)}, &{function}, {outs}, {elementwise}>::call"


def _has_input_tensors(f: NativeFunction) -> bool:
    """Whether there is something that an output may share memory with: another output, too."""
    arguments = f.func.arguments
    inputs = [a for a in arguments.flat_all if a not in arguments.out]
    lists = any(a.type != TENSOR for a in arguments.out)
    return lists or len(arguments.out) > 1 or any(a.type.is_tensor_like() for a in inputs)


def _external(context: Context, row: Registration, f: NativeFunction) -> str:
    """The static member `opgen_ns::Class::add` of an external backend that is the kernel of `f`."""
    backend = context.backend
    assert backend is not None
    index = backend.find_index(row.key)
    kernel = None if index is None else index.find_kernel(f)
    assert kernel is not None
    function = f"{backend.cpp_namespace}::{backend.class_name}::{kernel.name}"
    signature = DispatcherSignature.from_native_function(f, symint=kernel.symint)
    return _adapted(context, f, row, signature, function)


def _from_functional(context: Context, row: Registration) -> str:
    """The functional variant's kernel, its results copied into the arguments that `row` writes."""
    assert isinstance(row.group, NativeFunctionsGroup)
    f, functional = row.function, row.group.functional
    every = [a.name for a in f.func.arguments.flat_all]
    outs = [a.name for a in f.func.arguments.out]
    written = [*outs, *(n for n in f.func.arguments.mutable_arg_names if n not in outs)]
    positions = ", ".join(str(every.index(name)) for name in written)
    given = [a.name for a in functional.func.arguments.flat_all]
    options = given.index("dtype") if functional.func.arguments.tensor_options is not None else -1
    return (
        f"opgen::FromFunctional<{operator_struct(f)}, {operator_struct(functional)},"
        f" &{_external(context, row, functional)}, {'true' if outs else 'false'}, {options},"
        f" {context.target.spelling.standard}index_sequence<{positions}>>::call"
    )


def _from_out(context: Context, row: Registration) -> str:
    """The out variant's kernel, given new tensors like self or the first tensor argument, or self itself."""
    assert isinstance(row.group, NativeFunctionsGroup)
    f, out = row.function, row.group.out
    structs = f"{operator_struct(f)}, {operator_struct(out)}, &{_external(context, row, out)}"
    if f.func.kind() is SchemaKind.inplace:
        return f"opgen::InplaceFromOut<{structs}, {_self_position(f)}>::call"
    given = list(f.func.arguments.flat_all)
    tensors = [i for i, a in enumerate(given) if a.type == TENSOR]
    like = min(tensors, key=lambda i: (given[i].name != "self", i))
    dtype = next((i for i, a in enumerate(given) if a.name == "dtype"), -1)
    return f"opgen::FunctionalFromOut<{structs}, {len(f.func.returns)}, {like}, {dtype}>::call"


def _adapted(
    context: Context,
    f: NativeFunction,
    row: Registration,
    signature: _Signature,
    function: str,
) -> str:
    """`function`, which has `signature`, as the dispatcher calls it: guarded, if the row says so."""
    dispatcher = context.signatures.dispatcher(f)
    if not row.device_guard and _takes_the_same(signature, dispatcher):
        return function
    own = context.spell.spelled(signature)
    if row.device_guard:
        return _guarded(context, f, own.pointer_type, function)
    if own.function_type == context.spell.spelled(dispatcher).function_type:
        return function
    return f"opgen::Adapt<{operator_struct(f)}, {own.pointer_type}, &{function}>::call"


def _takes_the_same(one: _Signature, other: _Signature) -> bool:
    """Whether two signatures of one operator have the same types: most kernels have those of the dispatcher."""
    return [b.type for b in one.arguments()] == [b.type for b in other.arguments()]


def _guarded(context: Context, f: NativeFunction, pointer: str, function: str) -> str:
    """The kernel behind a check of the tensors' devices and a guard for the device.

    Source: ATen's wrappers guard by the device that a factory is told, else by the first tensor among
    self, outs, positionals.
    """
    arguments = f.func.arguments
    every = list(arguments.flat_all)
    outs = [a for a in arguments.out if a.type.is_tensor_like()]
    positional = [a for a in arguments.flat_positional if a.type.is_tensor_like()]
    own = [] if arguments.self_arg is None else [arguments.self_arg.argument]
    first = next((a for a in (*own, *outs, *positional) if a.type.is_tensor_like()), None)
    if arguments.tensor_options is not None:
        first = arguments.tensor_options.device
    guard = every.index(first) if f.device_guard and first is not None else -1
    installed = context.target.installed
    checks = f.device_check is not DeviceCheckType.NoCheck
    checks &= installed is None or f.full_name not in installed.between_devices
    check = "true" if checks else "false"
    positions = f"{context.target.spelling.standard}index_sequence<{_checked_positions(f)}>"
    return (
        f"opgen::DeviceGuarded<{operator_struct(f)}, {pointer}, &{function},"
        f" {check}, {positions}, {guard}>::call"
    )


def _self_position(f: NativeFunction) -> int:
    assert f.func.arguments.self_arg is not None
    return len(f.func.arguments.pre_self_positional)
