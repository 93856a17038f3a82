"""Elementwise inner loops (`ufunc_inner_loop`): one scalar function, from which opgen generates a kernel.

The author writes `OPGEN_UFUNC(add)(T self, T other, T alpha) { ... }`; the macro, which this module generates, turns it
into the structured kernel `ufunc_add_CPU` by running it over every listed element type.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from opgen.cpp import signatures
from opgen.cpp.names import kernel_namespace
from opgen.emit.common.base import Record, group_by
from opgen.emit.common.context import Context
from opgen.emit.common.kernel_set import continued
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import Argument
from opgen.model.native_function import ScalarType, UfuncInnerLoop, UfuncKey
from opgen.model.registry import NativeFunctionsGroup


class UfuncCase(Record, frozen=True):
    """The element types that run one inner loop, and a lambda that calls it for one element.

    Numbers among the arguments are converted once and captured.
    """

    name: str
    types: str
    captures: str
    parameters: str
    arguments: str


class UfuncImpl(Record, frozen=True):
    """The structured kernel that is made from the loops."""

    name: str
    struct: str
    parameters: str
    cases: tuple[UfuncCase, ...]

    def definition(self, namespace: str) -> Iterator[str]:
        """Yield the lines of the kernel: the loop of the first case that has the element type."""
        yield f"  void {namespace}::{self.struct}::impl({self.parameters}) {{"
        for case in self.cases:
            loop = f"opgen::ufunc_loop<{case.types}>"
            call = f"{namespace}::ufunc::opgen_{case.name}::{case.name}<T>({case.arguments})"
            yield f"    if ({loop}(*this, [&]<class T>(::std::type_identity<T>) {{"
            yield f"          return [{case.captures}]({case.parameters}) {{"
            yield f"            return {call};"
            yield "          };"
            yield "        })) {"
            yield "      return;"
            yield "    }"
        yield f'    opgen::ufunc_not_implemented(*this, "{self.name}");'
        yield "  }"


class Ufunc(Record, frozen=True):
    """An inner loop that the author writes. `impl` is the kernel, at its first loop."""

    root: str
    namespace: str
    name: str
    parameters: str
    named_parameters: str
    impl: UfuncImpl | None

    @property
    def macro_lines(self) -> tuple[str, ...]:
        """The `#define` of the text that OPGEN_UFUNC stands for, before `::name(parameters) { body }`."""
        kernel = () if self.impl is None else self.impl.definition(self.namespace)
        return continued(
            f"#define OPGEN_NativeFunctions_h_UFUNC_{self.name}",
            *kernel,
            "  template <class T>",
            f"  T {self.namespace}::ufunc::opgen_{self.name}",
        )


# The keys of loops for the CPU. For an element type, an earlier one overrides a later one.
_CPU_KEYS = (UfuncKey.CPUScalar, UfuncKey.ScalarOnly, UfuncKey.Generic)


def collect_ufuncs(context: Context) -> Iterator[Ufunc]:
    """Yield the loops of every group with a `ufunc_inner_loop` for the CPU, if its kernels are this library's."""
    if context.library.backend_only:
        return
    for group in context.registry.groups:
        if group.out.ufunc_inner_loop and group.out.find_kernel(DispatchKey.CPU):
            yield from _loops(context, group)


def _loops(context: Context, group: NativeFunctionsGroup) -> Iterator[Ufunc]:
    kernel = group.out.find_kernel(DispatchKey.CPU)
    assert kernel is not None
    arguments = group.functional.func.arguments.flat_non_out
    by_name = group_by(_cpu_loops(group, context.target.cpp.element_types), lambda pair: pair[1])
    impl: UfuncImpl | None = UfuncImpl(
        name=kernel.name,
        struct=f"structured_{kernel.name}",
        parameters=_impl_parameters(group, context),
        cases=tuple(
            _case(name, [dtype for dtype, _ in pairs], arguments, context)
            for name, pairs in by_name.items()
        ),
    )
    for name in by_name:
        yield Ufunc(
            root=group.root_name,
            namespace=kernel_namespace(group.out.namespace, kernel.namespace),
            name=name,
            parameters=", ".join("T" for _ in arguments),
            named_parameters=", ".join(f"T {a.name}" for a in arguments),
            impl=impl,
        )
        impl = None


def _impl_parameters(group: NativeFunctionsGroup, context: Context) -> str:
    """Return the parameters of impl. Tensors have no names, because the loop takes them from the iterator."""
    numbers = {
        a.name for a in group.functional.func.arguments.flat_non_out if not a.type.is_tensor_like()
    }
    return ", ".join(
        (
            context.spell.parameters([b], defaults=False)
            if b.name in numbers
            else context.spell.type(b.type)
        )
        for b in signatures.impl_arguments(group)
    )


def _cpu_loops(
    group: NativeFunctionsGroup, element_types: Container[str]
) -> list[tuple[ScalarType, str]]:
    """Return each of `element_types` with its scalar loop, in the order of first mention."""
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
) -> UfuncCase:
    tensors = [a for a in arguments if a.type.is_tensor_like()]
    numbers = [a for a in arguments if not a.type.is_tensor_like()]
    return UfuncCase(
        name=name,
        types=", ".join(context.target.cpp.element_types[str(d)] for d in dtypes),
        captures=", ".join(f"opgen_{a.name} = {a.name}.to<T>()" for a in numbers),
        parameters=", ".join(f"T opgen_{a.name}" for a in tensors),
        arguments=", ".join(f"opgen_{a.name}" for a in arguments),
    )
