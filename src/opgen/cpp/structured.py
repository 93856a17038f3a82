"""The signatures of structured kernels: meta, impl, and the values that one hands to the other."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.cpp.cpp_types import structured_argument_type, without_reference
from opgen.cpp.names import meta_namespace
from opgen.cpp.signatures import Binding, parameters
from opgen.cpp.spelling import TypeSpelling
from opgen.model.cpp_identifier import cpp_identifier
from opgen.model.function_schema import Argument
from opgen.model.native_function import Kernel
from opgen.model.registry import NativeFunctionsGroup


def struct_name(group: NativeFunctionsGroup) -> str:
    """`structured_add_Tensor`: the group's meta class, named after its functional member."""
    return f"structured_{str(group.functional.func.name).replace('.', '_')}"


def meta_class(group: NativeFunctionsGroup) -> str:
    """`at::meta::structured_add_Tensor`."""
    return f"{meta_namespace(group.functional.namespace)}::{struct_name(group)}"


def meta_arguments(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """What `meta` takes: the functional member's arguments."""
    return _bindings(group.functional.func.arguments.flat_non_out)


def impl_arguments(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """What `impl` takes: the arguments with their precomputed replacements, additions, then outs."""
    arguments = group.out.func.arguments
    given: list[Argument] = list(arguments.flat_non_out)
    if group.out.precomputed is not None:
        replace = dict(group.out.precomputed.replace)
        own = arguments.self_arg.argument if arguments.self_arg is not None else None
        # self is not replaced, whatever the YAML says.
        given = [b for a in given for b in (replace.get(a.name, (a,)) if a is not own else (a,))]
        given += group.out.precomputed.add
    return _bindings((*given, *arguments.out))


def out_arguments(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """The outs, as `impl` takes them."""
    return _bindings(group.out.func.arguments.out)


def precomputed_elements(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """The members of the struct that `meta` returns: replacements in the YAML's order, then additions."""
    precomputed = group.out.precomputed
    if precomputed is None:
        return ()
    elements = [a for _, replacements in precomputed.replace for a in replacements]
    elements += precomputed.add
    return tuple(Binding(b.name, without_reference(b.type)) for b in _bindings(elements))


def impl_struct(
    group: NativeFunctionsGroup, kernel: Kernel, spelling: TypeSpelling, export: str
) -> str:
    """The declaration of a structured kernel's class; `export` is the macro that makes it visible."""
    head = " ".join(filter(None, ("struct", export, f"structured_{kernel.name}")))
    return (
        f"{head} : public {meta_class(group)} {{\n"
        f"void impl({parameters(impl_arguments(group), spelling)});\n}};\n"
    )


def _bindings(arguments: Iterable[Argument]) -> tuple[Binding, ...]:
    return tuple(
        Binding(cpp_identifier(a.name), structured_argument_type(a.type)) for a in arguments
    )
