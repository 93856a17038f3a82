"""Build the signatures of structured kernels: `meta`, `impl`, and the precomputed values passed between them."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.cpp.cpp_types import structured_argument_type
from opgen.cpp.names import meta_namespace, parameter_name
from opgen.cpp.signatures import Binding, parameters
from opgen.cpp.spelling import TypeSpelling
from opgen.cpp.type_values import without_reference
from opgen.model.function_schema import TENSOR, Argument
from opgen.model.native_function import Kernel
from opgen.model.registry import OutlessGroup, StructuredGroup


def struct_name(group: StructuredGroup) -> str:
    """Return the name of the group's meta class, such as `structured_add_Tensor`, after its functional member."""
    return f"structured_{str(group.functional.func.name).replace('.', '_')}"


def meta_class(group: StructuredGroup) -> str:
    """Return the full name of the group's meta class, such as `at::meta::structured_add_Tensor`."""
    return f"{meta_namespace(group.functional.namespace)}::{struct_name(group)}"


def meta_arguments(group: StructuredGroup, *, symint: bool = False) -> tuple[Binding, ...]:
    """Return the parameters of `meta`: the arguments of the functional member."""
    return _bindings(group.functional.func.arguments.flat_non_out, symint=symint)


def impl_arguments(group: StructuredGroup) -> tuple[Binding, ...]:
    """Return the parameters of `impl`: arguments or their precomputed replacements, additions, then outputs."""
    arguments = group.primary.func.arguments
    inputs: list[Argument] = list(arguments.flat_non_out)
    if group.primary.precomputed is not None:
        replace = dict(group.primary.precomputed.replace)
        own = arguments.self_arg.argument if arguments.self_arg is not None else None
        # self is never replaced, even if the YAML has a replacement.
        inputs = [b for a in inputs for b in (replace.get(a.name, (a,)) if a is not own else (a,))]
        inputs += group.primary.precomputed.add
    return (*_bindings(inputs), *out_arguments(group))


def out_arguments(group: StructuredGroup) -> tuple[Binding, ...]:
    """Return the parameters of `impl` for the outputs."""
    if isinstance(group, OutlessGroup):
        return _bindings(_outputs(group))
    return _bindings(group.out.func.arguments.out)


def precomputed_elements(group: StructuredGroup, *, symint: bool = False) -> tuple[Binding, ...]:
    """Return the members of the struct that `meta` returns: replacements in the order of the YAML, then additions."""
    precomputed = group.primary.precomputed
    if precomputed is None:
        return ()
    elements = [a for _, replacements in precomputed.replace for a in replacements]
    elements += precomputed.add
    bindings = _bindings(elements, symint=symint)
    return tuple(Binding(b.name, without_reference(b.type)) for b in bindings)


def impl_struct(group: StructuredGroup, kernel: Kernel, spelling: TypeSpelling, export: str) -> str:
    """Return the declaration of a structured kernel's class. `export` is a macro that makes it visible, or empty."""
    head = " ".join(filter(None, ("struct", export, f"structured_{kernel.name}")))
    return (
        f"{head} : public {meta_class(group)} {{\n"
        f"void impl({parameters(impl_arguments(group), spelling)});\n}};\n"
    )


def _outputs(group: OutlessGroup) -> tuple[Argument, ...]:
    """Return the outputs of `meta` as arguments with unique names: those of the returns, else `out`."""
    func = group.functional.func
    taken = {a.name for a in func.arguments.flat_all}
    if group.primary.precomputed is not None:
        replaced = (b for _, bs in group.primary.precomputed.replace for b in bs)
        taken |= {b.name for b in (*replaced, *group.primary.precomputed.add)}
    names: list[str] = []
    for index, value in enumerate(func.returns):
        name = value.name or ("out" if len(func.returns) == 1 else f"out{index}")
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return tuple(Argument(name, TENSOR, None, None) for name in names)


def _bindings(arguments: Iterable[Argument], *, symint: bool = False) -> tuple[Binding, ...]:
    return tuple(
        Binding(parameter_name(a.name), structured_argument_type(a.type, symint=symint))
        for a in arguments
    )
