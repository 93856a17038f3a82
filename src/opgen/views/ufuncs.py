"""Elementwise inner loops (`ufunc_inner_loop`): one scalar function, from which a kernel is made.

The author writes `OPGEN_UFUNC(add)(T self, T other, T alpha) { ... }`; the macro, made here, turns it
into the structured kernel `ufunc_add_CPU` by running it over every listed element type.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from opgen.cpp import structured
from opgen.cpp.names import kernel_namespace
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import Argument
from opgen.model.native_function import ScalarType, UfuncInnerLoop, UfuncKey
from opgen.model.registry import NativeFunctionsGroup
from opgen.views.base import group_by, view
from opgen.views.context import Context


@view
class UfuncCaseView:
    """The element types that run one inner loop, and a lambda that calls it for one element.

    Numbers among the arguments are converted once and captured.
    """

    name: str
    types: str
    captures: str
    parameters: str
    arguments: str


@view
class UfuncImplView:
    """The structured kernel that is made from the loops."""

    name: str
    struct: str
    parameters: str
    cases: tuple[UfuncCaseView, ...]


@view
class UfuncView:
    """One inner loop to be written; `impl`, with the first of a kernel's loops, is the kernel."""

    root: str
    namespace: str
    name: str
    parameters: str
    named_parameters: str
    impl: UfuncImplView | None


# What serves the CPU, in the order in which one overrides another for an element type.
_CPU_KEYS = (UfuncKey.CPUScalar, UfuncKey.ScalarOnly, UfuncKey.Generic)


def ufunc_views(context: Context) -> Iterator[UfuncView]:
    """The loops of every group with a `ufunc_inner_loop` for the CPU, if its kernels are this library's."""
    if context.library.backend_only:
        return
    for group in context.registry.groups:
        if group.out.ufunc_inner_loop and group.out.find_kernel(DispatchKey.CPU):
            yield from _loops(context, group)


def _loops(context: Context, group: NativeFunctionsGroup) -> Iterator[UfuncView]:
    kernel = group.out.find_kernel(DispatchKey.CPU)
    assert kernel is not None
    arguments = group.functional.func.arguments.flat_non_out
    by_name = group_by(_cpu_loops(group, context.target.element_types), lambda pair: pair[1])
    impl: UfuncImplView | None = UfuncImplView(
        name=kernel.name,
        struct=f"structured_{kernel.name}",
        parameters=_impl_parameters(group, context),
        cases=tuple(
            _case(name, [dtype for dtype, _ in pairs], arguments, context)
            for name, pairs in by_name.items()
        ),
    )
    for name in by_name:
        yield UfuncView(
            root=group.root_name,
            namespace=kernel_namespace(group.out.namespace, kernel.namespace),
            name=name,
            parameters=", ".join("T" for _ in arguments),
            named_parameters=", ".join(f"T {a.name}" for a in arguments),
            impl=impl,
        )
        impl = None


def _impl_parameters(group: NativeFunctionsGroup, context: Context) -> str:
    """What impl takes. Tensors have no name there: the iterator has them already."""
    numbers = {
        a.name for a in group.functional.func.arguments.flat_non_out if not a.type.is_tensor_like()
    }
    return ", ".join(
        (
            context.spell.parameters([b], defaults=False)
            if b.name in numbers
            else context.spell.type(b.type)
        )
        for b in structured.impl_arguments(group)
    )


def _cpu_loops(
    group: NativeFunctionsGroup, element_types: Container[str]
) -> list[tuple[ScalarType, str]]:
    """Each of `element_types` with its scalar loop, in the order of first mention."""
    loops: dict[UfuncKey, UfuncInnerLoop] = dict(group.out.ufunc_inner_loop)
    found: dict[ScalarType, str] = {}
    for key in _CPU_KEYS:
        if key in loops:
            for dtype in loops[key].supported_dtypes:
                if str(dtype) in element_types:
                    found.setdefault(dtype, loops[key].name)
    return list(found.items())


def _case(
    name: str, dtypes: Sequence[ScalarType], arguments: Sequence[Argument], context: Context
) -> UfuncCaseView:
    tensors = [a for a in arguments if a.type.is_tensor_like()]
    numbers = [a for a in arguments if not a.type.is_tensor_like()]
    return UfuncCaseView(
        name=name,
        types=", ".join(context.target.element_types[str(d)] for d in dtypes),
        captures=", ".join(f"opgen_{a.name} = {a.name}.to<T>()" for a in numbers),
        parameters=", ".join(f"T opgen_{a.name}" for a in tensors),
        arguments=", ".join(f"opgen_{a.name}" for a in arguments),
    )
