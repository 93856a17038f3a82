"""Headers that kernel authors include: ops/<root>_native.h, ops/<root>_meta.h, and <Key>NativeFunctions.h of a backend.

For `ufunc_inner_loop`, the author writes `OPGEN_UFUNC(add)(T self, T other, T alpha) { ... }`; the macro, which this module
generates, turns it into the structured kernel `ufunc_add_CPU` by running it over every listed element type.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from opgen.cpp import signatures
from opgen.cpp.names import kernel_namespace
from opgen.emit.common.base import (
    GeneratedFile,
    Record,
    blocks,
    cpp_string,
    generated,
    group_by,
    sorted_includes,
    unique,
)
from opgen.emit.common.context import Context, type_headers
from opgen.emit.common.kernel_set import (
    KernelOverload,
    MetaClass,
    StructuredKernel,
    UnstructuredKernel,
    continued,
)
from opgen.emit.common.text import SpelledSignature
from opgen.model.backend import BackendKernel, ExternalBackend
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
            f"{context.spell.type(b.type)} {b.name}"
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


class NativeBlock(Record, frozen=True):
    namespace: str
    structured: tuple[StructuredKernel, ...]
    items: tuple[UnstructuredKernel, ...]
    ufuncs: tuple[Ufunc, ...]


def build_native_headers(context: Context) -> Iterator[GeneratedFile]:
    """Build ops/<root>_native.h for every root: the kernels of its operators."""
    structured = group_by(context.kernels.structured, lambda kernel: kernel.root)
    declared = group_by(context.kernels.kernels, lambda kernel: kernel.roots[0])
    ufuncs = group_by(collect_ufuncs(context), lambda ufunc: ufunc.root)
    shared = _shared_headers(context)
    metas = set(meta_roots(context))
    dtypes = ["SelectedDtypes.h"] if context.selects_dtypes else []
    for root in _native_roots(context):
        own_meta = [f"ops/{root}_meta.h"] if root in metas else []
        yield generated(
            path=f"include/{context.library.name}/ops/{root}_native.h",
            template="ops/root_native.h.j2",
            root=root,
            purpose=_purpose(
                root, structured.get(root, []), declared.get(root, []), ufuncs.get(root, [])
            ),
            includes=sorted_includes(
                context.tensor_header,
                "opgen/operator.h",
                *map(context.library.header, [*dtypes, *own_meta, *shared.get(root, ())]),
                *(k.meta_header for k in structured.get(root, []) if k.meta_header),
                *type_headers(context, context.functions_by_root.get(root, ())),
            ),
            blocks=_native_blocks(
                structured.get(root, []), declared.get(root, []), ufuncs.get(root, [])
            ),
        )


def build_meta_headers(context: Context) -> Iterator[GeneratedFile]:
    """Build ops/<root>_meta.h for every root with a structured group: its meta classes."""
    for root, metas in sorted(group_by(context.kernels.metas, lambda meta: meta.root).items()):
        yield generated(
            path=f"include/{context.library.name}/ops/{root}_meta.h",
            template="ops/root_meta.h.j2",
            root=root,
            includes=sorted_includes(
                context.tensor_header,
                "opgen/structured.h",
                *(header for m in metas for header in _base_headers(context, m)),
                *(f'"{header}"' for m in metas for header in _author_headers(context, m)),
            ),
            macros=_in_words(meta.to_write.partition("(")[0] for meta in metas),
            blocks=blocks((meta.namespace, meta) for meta in metas),
        )


def _purpose(
    root: str,
    structured: Iterable[StructuredKernel],
    kernels: Iterable[UnstructuredKernel],
    ufuncs: Sequence[Ufunc],
) -> str:
    """Return `the kernels of add; define them with OPGEN_IMPL_FUNC and OPGEN_KERNEL`."""
    looped = {ufunc.impl.struct for ufunc in ufuncs if ufunc.impl is not None}
    macros = [
        "OPGEN_IMPL_FUNC" for k in structured if k.struct not in looped and not k.is_installed
    ]
    macros += [kernel.macro(call).partition("(")[0] for kernel in kernels for call in kernel.calls]
    macros += ["OPGEN_UFUNC" for _ in ufuncs]
    words = _in_words(macros)
    return (
        f"the kernels of {root}; define them with {words}" if words else f"{root} needs no kernel"
    )


def _in_words(macros: Iterable[str]) -> str:
    *first, last = tuple(unique(macros)) or ("",)
    return f"{', '.join(first)} and {last}" if first else last


def _native_roots(context: Context) -> tuple[str, ...]:
    """Return every root; for a backend of another library, the roots of its structured kernels."""
    if not context.library.backend_only:
        return context.roots
    return tuple(sorted({kernel.root for kernel in context.kernels.structured}))


def meta_roots(context: Context) -> tuple[str, ...]:
    """Return the roots that have an ops/<root>_meta.h, sorted."""
    if context.library.backend_only:
        return tuple(sorted({meta.root for meta in context.kernels.metas}))
    return tuple(sorted({group.root_name for group in context.registry.structured_groups()}))


def _base_headers(context: Context, meta: MetaClass) -> tuple[str, ...]:
    header = context.target.cpp.base_headers.get(meta.base)
    return () if header is None else (header,)


def _author_headers(context: Context, meta: MetaClass) -> tuple[str, ...]:
    target = context.target
    if meta.base == target.cpp.meta_base or meta.base in target.cpp.base_headers:
        return ()
    return (target.cpp.author_header.format(meta.base),)


def _shared_headers(context: Context) -> dict[str, list[str]]:
    """Return, for each root, the headers of other roots that declare kernels of its operators."""
    pairs = (
        (root, f"ops/{kernel.roots[0]}_native.h")
        for kernel in context.kernels.kernels
        for root in kernel.roots[1:]
    )
    grouped = group_by(pairs, lambda pair: pair[0])
    return {root: sorted({header for _, header in found}) for root, found in grouped.items()}


def _native_blocks(
    structured: Iterable[StructuredKernel],
    kernels: Iterable[UnstructuredKernel],
    ufuncs: Iterable[Ufunc],
) -> tuple[NativeBlock, ...]:
    classes = group_by(structured, lambda kernel: kernel.namespace)
    structs = group_by(kernels, lambda kernel: kernel.namespace)
    loops = group_by(ufuncs, lambda ufunc: ufunc.namespace)
    return tuple(
        NativeBlock(
            namespace,
            tuple(classes.get(namespace, ())),
            tuple(structs.get(namespace, ())),
            tuple(loops.get(namespace, ())),
        )
        for namespace in unique([*classes, *structs, *loops])
    )


class SelectedTag(Record, frozen=True):
    """The element types of the dispatch macros with the name `tag`."""

    tag: str
    dtypes: tuple[str, ...]

    @property
    def condition(self) -> str:
        """`dtype == opgen::ScalarType::Float || ...`."""
        return " || ".join(f"dtype == opgen::ScalarType::{dtype}" for dtype in self.dtypes)


def build_selected_dtypes(context: Context) -> Iterator[GeneratedFile]:
    """Yield the header, if element types are selected."""
    if not context.selects_dtypes:
        return
    assert context.selection is not None
    known = context.target.cpp.element_types
    tags = tuple(
        SelectedTag(cpp_string(tag), kept)
        for tag, dtypes in sorted(context.selection.selector.kernel_metadata.items())
        if (kept := tuple(dtype for dtype in dtypes if dtype in known))
    )
    yield generated(
        path=f"include/{context.library.name}/SelectedDtypes.h",
        template="SelectedDtypes.h.j2",
        library=context.library.name,
        tags=tags,
        condition=" || ".join(f'is_selected("{tag.tag}", dtype)' for tag in tags) or "false",
    )


def build_backend(context: Context) -> Iterator[GeneratedFile]:
    """Yield the header of the backend's class, if there is a backend, and its fallback for other operators."""
    backend = context.backend
    if backend is None:
        return
    yield _header(context, backend)
    if backend.cpu_fallback and context.target.installed is not None:
        name = f"Register{backend.forward.key.name}Fallback.cpp"
        yield generated(
            path=f"src/{name}",
            template="RegisterFallback.cpp.j2",
            name=name,
            key=backend.forward.key.name,
            fallback_header=context.target.installed.fallback_header,
        )


def _header(context: Context, backend: ExternalBackend) -> GeneratedFile:
    """Return the backend's class, members sorted by name and types."""
    members = sorted(backend_members(context), key=lambda m: (m.name, m.signature.types))
    return generated(
        path=f"include/{context.library.name}/{backend.header}",
        template="BackendNativeFunctions.h.j2",
        includes=sorted_includes(context.tensor_header, "opgen/operator.h"),
        abi=context.target.plan.runtime_abi,
        name=backend.header,
        key=backend.forward.key.name,
        namespace=backend.cpp_namespace,
        class_name=backend.class_name,
        members=tuple(members),
    )


def backend_members(context: Context) -> tuple[KernelOverload, ...]:
    """Return the kernels to be written for the backend, in the order of the registry; none without a backend.

    Operators whose kernels have one name and the same C++ parameter types share a kernel.
    """
    if context.backend is None:
        return ()
    kernels = ((index.key, kernel) for index in context.backend.indices for kernel in index.kernels)
    by_overload = group_by(kernels, lambda pair: (pair[1].name, _signature(context, pair[1]).types))
    return tuple(_member(context, uses) for uses in by_overload.values())


def _signature(context: Context, kernel: BackendKernel) -> SpelledSignature:
    signature = context.signatures.dispatcher(kernel.function, symint=kernel.symint)
    return context.spell.spelled(signature)


def _member(context: Context, uses: list[tuple[DispatchKey, BackendKernel]]) -> KernelOverload:
    key, kernel = uses[0]
    return KernelOverload(
        name=kernel.name,
        schema=str(kernel.function.func),
        operator=kernel.function.full_name,
        root=kernel.function.root_name,
        key=key,
        signature=_signature(context, kernel),
        kept=any(context.keeps(kernel.function) for _, kernel in uses),
    )
