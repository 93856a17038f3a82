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
    Item,
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
    AuthorKernel,
    MetaClass,
    StructuredKernel,
    UnstructuredKernel,
)
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import Argument
from opgen.model.native_function import ScalarType, UfuncInnerLoop, UfuncKey
from opgen.model.registry import NativeFunctionsGroup


class Ufunc(Record, frozen=True):
    """An inner loop that the author writes. `kernel` is the structured kernel that runs the loops, at its first one."""

    root: str
    namespace: str
    name: str
    parameters: str
    named_parameters: str
    kernel: Item | None


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
    impl: Item | None = Item(
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
            kernel=impl,
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
) -> Item:
    """Return the element types that run one inner loop, and a lambda that calls it for one element.

    Numbers among the arguments are converted once and captured.
    """
    tensors = [a for a in arguments if a.type.is_tensor_like()]
    numbers = [a for a in arguments if not a.type.is_tensor_like()]
    return Item(
        name=name,
        types=", ".join(context.target.cpp.element_types[str(d)] for d in dtypes),
        captures=", ".join(f"opgen_{a.name} = {a.name}.to<T>()" for a in numbers),
        parameters=", ".join(f"T opgen_{a.name}" for a in tensors),
        arguments=", ".join(f"opgen_{a.name}" for a in arguments),
    )


def build_native_headers(context: Context) -> Iterator[GeneratedFile]:
    """Build ops/<root>_native.h for every root: the kernels of its operators."""
    structured = group_by(context.kernels.structured, lambda kernel: kernel.root)
    declared = group_by(context.kernels.kernels, lambda kernel: kernel.roots[0])
    ufuncs = group_by(collect_ufuncs(context), lambda ufunc: ufunc.root)
    shared = _shared_headers(context)
    metas = set(meta_roots(context))
    dtypes = ["SelectedDtypes.h"] if context.selects_dtypes else []
    # Every root; for a backend of another library, those of its structured kernels.
    for root in sorted(structured) if context.library.backend_only else context.roots:
        own_meta = [f"ops/{root}_meta.h"] if root in metas else []
        classes, structs = structured.get(root, ()), declared.get(root, ())
        loops = ufuncs.get(root, ())
        yield generated(
            path=f"include/{context.library.name}/ops/{root}_native.h",
            template="ops/root_native.h.j2",
            root=root,
            purpose=_purpose(root, classes, structs, loops),
            includes=sorted_includes(
                context.tensor_header,
                "opgen/operator.h",
                *map(context.library.header, [*dtypes, *own_meta, *shared.get(root, ())]),
                *(k.meta_header for k in classes if k.meta_header),
                *type_headers(context, context.functions_by_root.get(root, ())),
            ),
            blocks=tuple(
                Item(
                    namespace=namespace,
                    structured=tuple(k for k in classes if k.namespace == namespace),
                    items=tuple(k for k in structs if k.namespace == namespace),
                    ufuncs=tuple(loop for loop in loops if loop.namespace == namespace),
                )
                for namespace in unique(k.namespace for k in (*classes, *structs, *loops))
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
                *(header for m in metas for header in _base_header(context, m)),
            ),
            macros=_in_words(meta.macro for meta in metas),
            blocks=blocks((meta.namespace, meta) for meta in metas),
        )


def _purpose(
    root: str,
    structured: Iterable[StructuredKernel],
    kernels: Iterable[UnstructuredKernel],
    ufuncs: Sequence[Ufunc],
) -> str:
    """Return `the kernels of add; define them with OPGEN_IMPL_FUNC and OPGEN_KERNEL`."""
    looped = {ufunc.kernel.struct for ufunc in ufuncs if ufunc.kernel is not None}
    written = [k for k in structured if k.struct not in looped and not k.is_installed]
    macros = [k.macro for k in (*written, *(call for k in kernels for call in k.calls))]
    words = _in_words([*macros, *("OPGEN_UFUNC" for _ in ufuncs)])
    return (
        f"the kernels of {root}; define them with {words}" if words else f"{root} needs no kernel"
    )


def _in_words(macros: Iterable[str]) -> str:
    """Return the names of macros, each once: `OPGEN_KERNEL and OPGEN_UFUNC`."""
    *first, last = tuple(unique(macro.partition("(")[0] for macro in macros)) or ("",)
    return f"{', '.join(first)} and {last}" if first else last


def meta_roots(context: Context) -> tuple[str, ...]:
    """Return the roots that have an ops/<root>_meta.h, sorted."""
    if context.library.backend_only:
        return tuple(sorted({meta.root for meta in context.kernels.metas}))
    return tuple(sorted({group.root_name for group in context.registry.structured_groups()}))


def _base_header(context: Context, meta: MetaClass) -> Iterator[str]:
    """Yield the header that declares the base of a meta class, unless every kernel includes it."""
    cpp = context.target.cpp
    if meta.base in cpp.base_headers:
        yield cpp.base_headers[meta.base]
    elif meta.base != cpp.meta_base:
        yield f'"{cpp.author_header.format(meta.base)}"'


def _shared_headers(context: Context) -> dict[str, list[str]]:
    """Return, for each root, the headers of other roots that declare kernels of its operators."""
    pairs = (
        (root, f"ops/{kernel.roots[0]}_native.h")
        for kernel in context.kernels.kernels
        for root in kernel.roots[1:]
    )
    grouped = group_by(pairs, lambda pair: pair[0])
    return {root: sorted({header for _, header in found}) for root, found in grouped.items()}


def build_selected_dtypes(context: Context) -> Iterator[GeneratedFile]:
    """Yield the header, if element types are selected."""
    if not context.selects_dtypes:
        return
    assert context.selection is not None
    known = context.target.cpp.element_types
    tags = tuple(
        (cpp_string(tag), " || ".join(f"dtype == opgen::ScalarType::{dtype}" for dtype in kept))
        for tag, dtypes in sorted(context.selection.selector.kernel_metadata.items())
        if (kept := tuple(dtype for dtype in dtypes if dtype in known))
    )
    yield generated(
        path=f"include/{context.library.name}/SelectedDtypes.h",
        template="SelectedDtypes.h.j2",
        library=context.library.name,
        tags=tags,
        condition=" || ".join(f'is_selected("{tag}", dtype)' for tag, _ in tags) or "false",
    )


def build_backend(context: Context) -> Iterator[GeneratedFile]:
    """Yield the header of the backend's class, if there is a backend, and its fallback for other operators."""
    backend = context.backend
    if backend is None:
        return
    members = sorted(backend_members(context), key=lambda m: (m.name, m.signature.types))
    yield generated(
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
    if backend.cpu_fallback and context.target.installed is not None:
        name = f"Register{backend.forward.key.name}Fallback.cpp"
        yield generated(
            path=f"src/{name}",
            template="RegisterFallback.cpp.j2",
            name=name,
            key=backend.forward.key.name,
            fallback_header=context.target.installed.fallback_header,
        )


def backend_members(context: Context) -> Iterator[AuthorKernel]:
    """Yield the kernels to be written for the backend, in the order of the registry; none without a backend.

    Operators whose kernels have one name and the same C++ parameter types share a kernel.
    """
    backend = context.backend
    if backend is None:
        return
    uses = [
        (kernel, index.key, context.spell.spelled(signature))
        for index in backend.indices
        for kernel in index.kernels
        for signature in [context.signatures.dispatcher(kernel.function, symint=kernel.symint)]
    ]
    for some in group_by(uses, lambda use: (use[0].name, use[2].types)).values():
        kernel, key, signature = some[0]
        function = f"{backend.class_name}::{kernel.name}"
        yield AuthorKernel(
            f=kernel.function,
            key=key,
            namespace=backend.cpp_namespace,
            name=kernel.name,
            function=function,
            macro=f"{signature.returns} {function}",
            signature=signature,
            header=backend.header,
            kept=any(context.keeps(kernel.function) for kernel, *_ in some),
            within=backend.cpp_namespace,
        )
