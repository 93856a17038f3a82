"""The structured kernels of an external backend, as classes over the meta classes of the library that it extends."""

from __future__ import annotations

from collections.abc import Callable

from opgen.cpp.names import kernel_namespace
from opgen.dataclasses import replace
from opgen.model.backend import BackendStructured, ExternalBackend, StructuredRoute
from opgen.model.native_function import Kernel, NativeFunction
from opgen.views.kernel_set import (
    KernelSet,
    StructuredKernelView,
    meta_view,
    structured_kernel_view,
)
from opgen.views.text import Speller


def collect_backend_kernels(
    backend: ExternalBackend | None,
    spell: Speller,
    keeps: Callable[[NativeFunction], bool],
    header: Callable[[str], str],
) -> KernelSet:
    """The classes of `backend`; `header` says where the extended library has a header of an operator."""
    if backend is None:
        return KernelSet((), (), ())
    own_metas = (s for s in backend.structured if s.route is StructuredRoute.own_meta_and_impl)
    return KernelSet(
        metas=tuple(
            replace(
                meta_view(s.group, spell, _is_kept(s, keeps)),
                namespace=_meta_namespace(backend),
                qualifier=f"{_meta_namespace(backend)}::",
            )
            for s in own_metas
        ),
        structured=tuple(_kernel(backend, s, spell, keeps, header) for s in backend.structured),
        kernels=(),
    )


def _kernel(
    backend: ExternalBackend,
    kernel: BackendStructured,
    spell: Speller,
    keeps: Callable[[NativeFunction], bool],
    header: Callable[[str], str],
) -> StructuredKernelView:
    own = Kernel(kernel.name, backend.cpp_namespace, structured=True)
    key, root = backend.forward.key, kernel.group.root_name
    view = structured_kernel_view(kernel.group, key, own, spell, _is_kept(kernel, keeps))
    match kernel.route:
        case StructuredRoute.own_impl:
            return replace(view, meta_header=header(f"ops/{root}_meta.h"), says_outputs=True)
        case StructuredRoute.own_meta_and_impl:
            struct = view.meta.rpartition("::")[2]
            return replace(view, meta=f"{_meta_namespace(backend)}::{struct}")
        case StructuredRoute.installed:
            return replace(
                view,
                meta=_installed_class(kernel),
                meta_header=header(f"ops/{root}_native.h"),
                says_outputs=True,
                is_installed=True,
            )


def _is_kept(kernel: BackendStructured, keeps: Callable[[NativeFunction], bool]) -> bool:
    return any(keeps(f) for f in kernel.group.functions())


def _meta_namespace(backend: ExternalBackend) -> str:
    return f"{backend.cpp_namespace}::meta"


def _installed_class(kernel: BackendStructured) -> str:
    """`at::native::structured_mul_out`."""
    assert kernel.installed is not None
    namespace = kernel_namespace(kernel.group.primary.namespace, kernel.installed.namespace)
    return f"{namespace}::structured_{kernel.installed.name}"
