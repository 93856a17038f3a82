"""What a kernel author includes: ops/<root>_native.h and ops/<root>_meta.h."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.views.base import Block, FileView, blocks, group_by, unique, view
from opgen.views.context import Context
from opgen.views.custom_classes import type_headers
from opgen.views.kernel_set import KernelView, MetaView, StructuredKernelView
from opgen.views.ufuncs import UfuncView, ufunc_views


@view
class NativeBlock:
    namespace: str
    structured: tuple[StructuredKernelView, ...]
    items: tuple[KernelView, ...]
    ufuncs: tuple[UfuncView, ...]


@view
class NativeHeaderView(FileView):
    root: str
    tensor_header: str
    includes: tuple[str, ...]
    author_includes: tuple[str, ...]
    abi: int
    blocks: tuple[NativeBlock, ...]


@view
class MetaHeaderView(FileView):
    root: str
    tensor_header: str
    includes: tuple[str, ...]
    author_includes: tuple[str, ...]
    abi: int
    blocks: tuple[Block[MetaView], ...]


def build_native_headers(context: Context) -> Iterator[FileView]:
    """ops/<root>_native.h for every root: the kernels of its operators."""
    structured = group_by(context.kernels.structured, lambda kernel: kernel.root)
    declared = group_by(context.kernels.kernels, lambda kernel: kernel.roots[0])
    ufuncs = group_by(ufunc_views(context), lambda ufunc: ufunc.root)
    shared = _shared_headers(context)
    metas = set(meta_roots(context))
    dtypes = ["SelectedDtypes.h"] if context.selects_dtypes else []
    for root in _native_roots(context):
        own_meta = [f"ops/{root}_meta.h"] if root in metas else []
        yield NativeHeaderView(
            path=f"include/{context.library.name}/ops/{root}_native.h",
            template="ops/root_native.h.j2",
            root=root,
            tensor_header=context.tensor_header,
            includes=(
                *map(context.library.header, [*dtypes, *own_meta, *shared.get(root, ())]),
                *unique(k.meta_header for k in structured.get(root, []) if k.meta_header),
            ),
            author_includes=type_headers(context, context.functions_by_root.get(root, ())),
            abi=context.target.runtime_abi,
            blocks=_native_blocks(
                structured.get(root, []), declared.get(root, []), ufuncs.get(root, [])
            ),
        )


def build_meta_headers(context: Context) -> Iterator[FileView]:
    """ops/<root>_meta.h for every root with a structured group: its meta classes."""
    for root, metas in sorted(group_by(context.kernels.metas, lambda meta: meta.root).items()):
        yield MetaHeaderView(
            path=f"include/{context.library.name}/ops/{root}_meta.h",
            template="ops/root_meta.h.j2",
            root=root,
            tensor_header=context.tensor_header,
            includes=tuple(unique(header for m in metas for header in _base_headers(context, m))),
            author_includes=tuple(
                unique(header for m in metas for header in _author_headers(context, m))
            ),
            abi=context.target.runtime_abi,
            blocks=blocks((meta.namespace, meta) for meta in metas),
        )


def _native_roots(context: Context) -> tuple[str, ...]:
    """Every root; of a backend of another library those of its structured kernels."""
    if not context.library.backend_only:
        return context.roots
    return tuple(sorted({kernel.root for kernel in context.kernels.structured}))


def meta_roots(context: Context) -> tuple[str, ...]:
    """The roots that have an ops/<root>_meta.h, sorted."""
    if context.library.backend_only:
        return tuple(sorted({meta.root for meta in context.kernels.metas}))
    return tuple(sorted({group.root_name for group in context.registry.structured_groups()}))


def _base_headers(context: Context, meta: MetaView) -> tuple[str, ...]:
    header = context.target.base_headers.get(meta.base)
    return () if header is None else (header,)


def _author_headers(context: Context, meta: MetaView) -> tuple[str, ...]:
    target = context.target
    if meta.base == target.meta_base or meta.base in target.base_headers:
        return ()
    return (target.author_header.format(meta.base),)


def _shared_headers(context: Context) -> dict[str, list[str]]:
    """For each root the headers of other roots that declare a kernel its operators share."""
    pairs = (
        (root, f"ops/{kernel.roots[0]}_native.h")
        for kernel in context.kernels.kernels
        for root in kernel.roots[1:]
    )
    grouped = group_by(pairs, lambda pair: pair[0])
    return {root: sorted({header for _, header in found}) for root, found in grouped.items()}


def _native_blocks(
    structured: Iterable[StructuredKernelView],
    kernels: Iterable[KernelView],
    ufuncs: Iterable[UfuncView],
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
