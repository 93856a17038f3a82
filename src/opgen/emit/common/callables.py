"""The C++ expression that names the function registered for one operator and key."""

from __future__ import annotations

from typing import TypeAlias

from opgen.cpp.cpp_types import returns_references
from opgen.cpp.names import kernel_namespace
from opgen.cpp.signatures import DispatcherSignature, NativeSignature, meta_class
from opgen.emit.common.base import Record
from opgen.emit.common.context import Context
from opgen.emit.common.text import operator_struct
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import OPTIONAL_TENSOR, TENSOR, SchemaKind
from opgen.model.native_function import DeviceCheckType, NativeFunction
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup
from opgen.resolve.dispatch_tables import Registration, RegistrationKind, find_device
from opgen.resolve.functional_forms import finds_tensors

_Signature: TypeAlias = NativeSignature | DispatcherSignature

# The runtime's class template for each kind of member of a structured group.
_VARIANTS = {
    SchemaKind.functional: "Functional",
    SchemaKind.inplace: "Inplace",
    SchemaKind.out: "Out",
}


def _member(template: str, f: NativeFunction, *arguments: object) -> str:
    """Return `opgen::Template<ns::_ops::f, 1, true>::call`: the member of a class template of the runtime."""
    texts = [str(a).lower() if isinstance(a, bool) else str(a) for a in arguments]
    return f"opgen::{template}<{', '.join([operator_struct(f), *texts])}>::call"


def callable_expression(context: Context, row: Registration) -> str:
    """Return a qualified function name whose type is the operator's dispatcher signature."""
    match row.kind:
        case RegistrationKind.structured if _is_checked(context, row):
            # Source: ATen's wrappers of structured kernels check the same arguments as those of unstructured kernels.
            positions = context.spell.index_sequence(_checked_positions(row.function))
            return _member("DeviceChecked", row.function, f"&{_structured(row)}", positions)
        case RegistrationKind.structured:
            return _structured(row)
        case RegistrationKind.composite_structured:
            return _structured(row)
        case RegistrationKind.meta_inplace_stub:
            return _member("MetaInplaceStub", row.function)
        case RegistrationKind.meta_of_written:
            return _member("MetaOfWritten", row.function, _returned(context, row.function))
        case RegistrationKind.existing:
            assert row.kernel is not None
            # Those that are returned by reference are arguments.
            by_reference = returns_references(row.function)
            returned = [_returned(context, row.function)] if by_reference else []
            return _member("Existing", row.function, f"&{row.kernel.cpp_name}", *returned)
        case RegistrationKind.fallthrough:
            raise AssertionError("nothing is called")
        case RegistrationKind.backend_select:
            names = [a.name for a in row.function.func.arguments.flat_all]
            return _member("BackendSelect", row.function, names.index("dtype"))
        case RegistrationKind.select_by_device:
            return _member("BackendSelectByDevice", row.function, find_device(row.function))
        case RegistrationKind.unstructured:
            return _unstructured(context, row)
        case RegistrationKind.external:
            return _external(context, row, row.function)
        case RegistrationKind.from_functional:
            return _from_functional(context, row)
        case RegistrationKind.from_out:
            return _from_out(context, row)


def kernel_expression(context: Context, row: Registration) -> str:
    """Return the C++ expression from which a registration makes the kernel of `row`, a DirectKernel.

    Structured kernels are named by their class alone: `opgen::FunctionalKernel<opgen::DispatchKey::CPU,
    at::native::structured_k>()`.
    """
    is_composite = row.kind is RegistrationKind.composite_structured
    is_structured = row.kind is RegistrationKind.structured
    if not is_composite and not (is_structured and not _is_checked(context, row)):
        return callable_expression(context, row)
    name, given, rest = _class_of(row)
    if "Inplace" in name and _self_position(row.function):
        rest.append(str(_self_position(row.function)))
    return f"opgen::{name}Kernel<{', '.join([*given, *rest])}>()"


def structured_class(row: Registration) -> str:
    """Return the full name of the author's class, as `at::native::structured_k`, or of the meta class without a kernel."""
    assert row.group is not None
    if row.kernel is None:
        return meta_class(row.group)
    namespace = kernel_namespace(row.group.primary.namespace, row.kernel.namespace)
    return f"{namespace}::structured_{row.kernel.name}"


def _class_of(row: Registration) -> tuple[str, list[str], list[str]]:
    """Return the runtime's class template for a structured kernel: its name, and its parameters before and after the operator.

    That is `Functional`, and its key and `structured_class`. In-place classes also have the position of self.
    """
    group, f = row.group, row.function
    assert group is not None
    name = _VARIANTS[f.func.kind()]
    if row.kind is RegistrationKind.composite_structured:
        assert isinstance(group, NativeFunctionsGroup)
        return f"Composite{name}", [structured_class(row)], [operator_struct(group.out)]
    given = [f"opgen::DispatchKey::{row.key.name}", structured_class(row)]
    if not isinstance(group, OutlessGroup) or not group.has_views:
        return name, given, []
    if f is group.functional:
        return "View", given, [*map(str, group.bases())]
    return "InplaceView", given, []


def _structured(row: Registration) -> str:
    """Return `opgen::Functional<opgen::DispatchKey::CPU, at::native::structured_k, at::_ops::f>::call`."""
    name, given, rest = _class_of(row)
    if name == "View":
        rest = [f"opgen::Bases<{', '.join(rest)}>"]
    if "Inplace" in name:
        rest.append(str(_self_position(row.function)))
    return f"opgen::{name}<{', '.join([*given, operator_struct(row.function), *rest])}>::call"


def _is_checked(context: Context, row: Registration) -> bool:
    """Return whether the target checks the devices of this structured kernel."""
    wanted = row.device_guard and context.target.dispatch.checks_structured
    return wanted and _share_a_device(context, row.function)


def _share_a_device(context: Context, f: NativeFunction) -> bool:
    """Return whether all tensors of `f` must be on one device."""
    installed = context.target.installed
    between = installed is not None and f.full_name in installed.between_devices
    return f.device_check is not DeviceCheckType.NoCheck and not between


def _checked_positions(f: NativeFunction) -> list[int]:
    """Return the positions of the outs and of positional tensors. Like ATen, keyword-only tensors are not checked."""
    every = list(f.func.arguments.flat_all)
    arguments = (*f.func.arguments.out, *f.func.arguments.flat_positional)
    return [every.index(a) for a in arguments if a.type.is_tensor_like()]


def _returned(context: Context, f: NativeFunction) -> str:
    """Return the positions of the arguments that are returned."""
    every = [a.name for a in f.func.arguments.flat_all]
    names = f.func.aliased_return_names()
    return context.spell.index_sequence(every.index(name) for name in names if name is not None)


def _unstructured(context: Context, row: Registration) -> str:
    f = row.function
    assert row.kernel is not None
    namespace = kernel_namespace(f.namespace, row.kernel.namespace)
    function = f"{namespace}::opgen_{row.kernel.name}::{row.kernel.name}"
    native = context.signatures.native(f, symint=row.kernel.supports_symint)
    if not _checks_outs(context, f):
        return _adapted(context, f, row, native, function)
    function = _adapted(context, f, row, native, function, is_called=True)
    group = context.registry.group_of(f)
    tags = f.tags if group is None else frozenset().union(*(g.tags for g in group.functions()))
    # The outputs of elementwise operators may be inputs.
    is_elementwise = "pointwise" in tags
    return _member("ApartOut", f, f"&{function}", len(f.func.arguments.out), is_elementwise)


def _checks_outs(context: Context, f: NativeFunction) -> bool:
    """Return whether an author's out= kernel is wrapped so that its outputs never share memory with its inputs.

    Source: PyTorch leaves this check to the kernels; those that forget it silently compute wrong results.
    """
    if f.func.kind() is not SchemaKind.out or "generated" in f.tags:
        return False
    outs, inputs = f.func.arguments.out, f.func.arguments.flat_non_out
    shares = len(outs) > 1 or any(a.type != TENSOR for a in outs)
    shares = shares or any(a.type.is_tensor_like() for a in inputs)
    return shares and context.target.dispatch.checks_outs


def _external(context: Context, row: Registration, f: NativeFunction) -> str:
    """Return the static member `opgen_ns::Class::add` of an external backend that is the kernel of `f`."""
    backend = context.backend
    assert backend is not None
    index = backend.find_index(row.key)
    kernel = None if index is None else index.find_kernel(f)
    assert kernel is not None
    function = f"{backend.cpp_namespace}::{backend.class_name}::{kernel.name}"
    signature = context.signatures.dispatcher(f, symint=kernel.symint)
    return _adapted(context, f, row, signature, function)


def _from_functional(context: Context, row: Registration) -> str:
    """Return the functional variant's kernel, with its results copied into the arguments that the operator of `row` writes."""
    assert isinstance(row.group, NativeFunctionsGroup)
    f, functional = row.function, row.group.functional
    every = [a.name for a in f.func.arguments.flat_all]
    outs = [a.name for a in f.func.arguments.out]
    written = (*outs, *(n for n in f.func.arguments.mutable_arg_names if n not in outs))
    positions = context.spell.index_sequence(map(every.index, written))
    names = [a.name for a in functional.func.arguments.flat_all]
    options = names.index("dtype") if functional.func.arguments.tensor_options is not None else -1
    kernel = f"&{_external(context, row, functional)}"
    given = (operator_struct(functional), kernel, bool(outs), options, positions)
    return _member("FromFunctional", f, *given)


def _from_out(context: Context, row: Registration) -> str:
    """Return the out variant's kernel. Its outs are self for an in-place variant; otherwise they are new tensors with the
    options of self or, without a self, of the first tensor argument.
    """
    assert isinstance(row.group, NativeFunctionsGroup)
    f, out = row.function, row.group.out
    kernel = (operator_struct(out), f"&{_external(context, row, out)}")
    if f.func.kind() is SchemaKind.inplace:
        return _member("InplaceFromOut", f, *kernel, _self_position(f))
    given = list(f.func.arguments.flat_all)
    tensors = [i for i, a in enumerate(given) if a.type == TENSOR]
    like = min(tensors, key=lambda i: (given[i].name != "self", i))
    dtype = next((i for i, a in enumerate(given) if a.name == "dtype"), -1)
    return _member("FunctionalFromOut", f, *kernel, len(f.func.returns), like, dtype)


def _adapted(
    context: Context,
    f: NativeFunction,
    row: Registration,
    signature: _Signature,
    function: str,
    *,
    is_called: bool = False,
) -> str:
    """Return `function`, which has `signature`, adapted to the dispatcher's signature, with a device guard if the row has one.

    A kernel with the library's class Tensor is registered as it is, unless another function calls it.
    """
    dispatcher = context.signatures.dispatcher(f)
    same = _has_the_types_of(context, signature, dispatcher)
    if same and not row.device_guard and not (is_called and context.own_tensor):
        return function
    pointer = context.spell.spelled(signature).pointer_type
    if row.device_guard:
        return _guarded(context, f, pointer, function)
    return _member("Adapt", f, pointer, f"&{function}")


def _has_the_types_of(context: Context, one: _Signature, other: _Signature) -> bool:
    """Return whether two signatures of one operator are the same in C++, but for the class Tensor: those of most kernels are."""
    types = [[s.returns, *(b.type for b in s.arguments)] for s in (one, other)]
    return types[0] == types[1] or [*map(context.spell.type, types[0])] == [
        *map(context.spell.type, types[1])
    ]


def _guarded(context: Context, f: NativeFunction, pointer: str, function: str) -> str:
    """Return the kernel, wrapped in a check of the tensors' devices and a device guard.

    Source: ATen's wrappers make the `device` argument of a factory current; otherwise the device of the first tensor
    among self, outs and positional arguments.
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
    positions = context.spell.index_sequence(_checked_positions(f))
    check = _share_a_device(context, f)
    return _member("DeviceGuarded", f, pointer, f"&{function}", check, positions, guard)


def _self_position(f: NativeFunction) -> int:
    return [a.name for a in f.func.arguments.flat_positional].index("self")


_RULES = (DispatchKey.FuncTorchBatched, DispatchKey.FuncTorchBatchedDecomposition)


class Kernel(Record, frozen=True, eq=True):
    """What registers `function`: `maker<operator, &function>()`; without a maker, `function` is the whole expression."""

    function: str
    maker: str = ""
    operator: str = ""

    def __str__(self) -> str:
        if not self.maker:
            return self.function
        operator = f"{self.operator}, " if self.operator else ""
        return f"{self.maker}<{operator}&{self.function}>()"


def boxed(function: str) -> Kernel:
    """Return the boxed kernel opgen::`function`."""
    return Kernel(f"opgen::{function}", "torch::CppFunction::makeFromBoxedFunction")


CALL_FOR_EACH = boxed("call_for_each")
_REFUSE = boxed("refuse_batches")


def has_aliases(f: NativeFunction) -> bool:
    """Return whether `f` writes an argument or returns a view."""
    annotations = [
        *(a.annotation for a in f.func.arguments.flat_all),
        *(r.annotation for r in f.func.returns),
    ]
    return any(annotation is not None for annotation in annotations)


def decomposes(f: NativeFunction, key: DispatchKey, layer: DispatchKey) -> bool:
    """Return whether the composite kernel of `f` for `key` also serves `layer`: Functionalize, or the layer of vmap.

    A CompositeImplicitAutograd kernel only calls operators. PyTorch decomposes those of ATen. For other operators that
    write an argument or return a view, PyTorch throws an error when it functionalizes them, and its vmap calls them once
    for each element: existing functions may rely on that, as those do that use autograd::Function. A
    CompositeExplicitAutograd kernel may read memory, so it is used only where PyTorch would throw an error: for views.
    """
    aliases = has_aliases(f)
    own = (layer,) if layer is DispatchKey.Functionalize else _RULES
    if any(f.find_kernel(rule) is not None for rule in own):
        return False
    if key is DispatchKey.CompositeImplicitAutograd:
        if layer is DispatchKey.FuncTorchBatchedDecomposition:
            return not f.has_plain_autograd or f.is_view_op or not _falls_back(f)
        return aliases
    return (
        layer is DispatchKey.FuncTorchBatchedDecomposition
        and f.is_library
        and f.is_view_op
        and not f.func.is_mutable
    )


def find_batching(f: NativeFunction) -> Kernel | None:
    """Return the vmap kernel of `f`, which has no CompositeImplicitAutograd kernel; None if PyTorch's fallback serves it."""
    if any(f.find_kernel(rule) is not None for rule in _RULES):
        return None
    if "inplace_view" in f.tags:
        return _REFUSE
    if not f.is_library:
        return None
    arguments = f.func.arguments
    if f.is_view_op:
        return None if f.has_composite_explicit_autograd_kernel else _REFUSE
    if arguments.out:
        return _REFUSE
    if not all(finds_tensors(a.type) for a in arguments.flat_all):
        return None
    return None if _falls_back(f) else CALL_FOR_EACH


def _falls_back(f: NativeFunction) -> bool:
    """Return whether PyTorch calls `f` once for each element of a batch. Source: functorch's BatchedFallback.cpp, by trial."""
    every = f.func.arguments.flat_all
    if not all(a.type in (TENSOR, OPTIONAL_TENSOR) for a in every if a.type.is_tensor_like()):
        return False
    if not f.func.returns or any(r.type != TENSOR for r in f.func.returns):
        return False
    if not f.func.is_mutable:
        return True
    written = [a for a in every if a.is_write]
    return (
        written == [every[0]]
        and every[0].type == TENSOR
        and f.func.aliased_return_names() == (every[0].name,)
    )
