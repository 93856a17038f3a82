"""Headers that kernel authors include: ops/<root>_native.h and ops/<root>_meta.h."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.emit.common.base import (
    Block,
    GeneratedFile,
    Record,
    blocks,
    cpp_string,
    group_by,
    sorted_includes,
    unique,
)
from opgen.emit.common.context import Context, type_headers
from opgen.emit.common.kernel_set import MetaClass, StructuredKernel, UnstructuredKernel
from opgen.emit.kernels.ufuncs import Ufunc, collect_ufuncs


class NativeBlock(Record, frozen=True):
    namespace: str
    structured: tuple[StructuredKernel, ...]
    items: tuple[UnstructuredKernel, ...]
    ufuncs: tuple[Ufunc, ...]


class NativeHeader(GeneratedFile, frozen=True):
    root: str
    # The purpose of the header, in words.
    purpose: str
    includes: tuple[str, ...]
    abi: int
    blocks: tuple[NativeBlock, ...]


class MetaHeader(GeneratedFile, frozen=True):
    root: str
    includes: tuple[str, ...]
    abi: int
    # The macros that define the functions, as a list in words.
    macros: str
    blocks: tuple[Block[MetaClass], ...]


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
        yield NativeHeader(
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
            abi=context.target.plan.runtime_abi,
            blocks=_native_blocks(
                structured.get(root, []), declared.get(root, []), ufuncs.get(root, [])
            ),
        )


def build_meta_headers(context: Context) -> Iterator[GeneratedFile]:
    """Build ops/<root>_meta.h for every root with a structured group: its meta classes."""
    for root, metas in sorted(group_by(context.kernels.metas, lambda meta: meta.root).items()):
        yield MetaHeader(
            path=f"include/{context.library.name}/ops/{root}_meta.h",
            template="ops/root_meta.h.j2",
            root=root,
            includes=sorted_includes(
                context.tensor_header,
                "opgen/structured.h",
                *(header for m in metas for header in _base_headers(context, m)),
                *(f'"{header}"' for m in metas for header in _author_headers(context, m)),
            ),
            abi=context.target.plan.runtime_abi,
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


class SelectedDtypesHeader(GeneratedFile, frozen=True):
    library: str
    tags: tuple[SelectedTag, ...]

    @property
    def condition(self) -> str:
        """`is_selected("add", dtype) || ...`, or `false`."""
        return " || ".join(f'is_selected("{tag.tag}", dtype)' for tag in self.tags) or "false"


def build_selected_dtypes(context: Context) -> Iterator[GeneratedFile]:
    """Yield the header, if element types are selected."""
    if not context.selects_dtypes:
        return
    assert context.selection is not None
    known = context.target.cpp.element_types
    yield SelectedDtypesHeader(
        path=f"include/{context.library.name}/SelectedDtypes.h",
        template="SelectedDtypes.h.j2",
        library=context.library.name,
        tags=tuple(
            SelectedTag(cpp_string(tag), kept)
            for tag, dtypes in sorted(context.selection.selector.kernel_metadata.items())
            if (kept := tuple(dtype for dtype in dtypes if dtype in known))
        ),
    )
