"""The structured kernels of an external backend, as classes over the meta classes of the library that it extends."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from opgen.cpp.names import kernel_namespace
from opgen.emit.common.kernel_set import (
    KernelSet,
    StructuredKernel,
    meta_class_of,
    structured_kernel,
)
from opgen.emit.common.text import Speller
from opgen.model.backend import BackendStructured, ExternalBackend, StructuredRoute
from opgen.model.native_function import Kernel, NativeFunction


def collect_backend_kernels(
    backend: ExternalBackend | None,
    spell: Speller,
    keeps: Callable[[NativeFunction], bool],
    header: Callable[[str], str],
) -> KernelSet:
    """Return the classes of `backend`; `header` returns the path of an operator's header in the extended library."""
    if backend is None:
        return KernelSet((), (), ())
    own_metas = (s for s in backend.structured if s.route is StructuredRoute.own_meta_and_impl)
    return KernelSet(
        metas=tuple(
            replace(
                meta_class_of(s.group, spell, _is_kept(s, keeps)),
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
) -> StructuredKernel:
    own = Kernel(kernel.name, backend.cpp_namespace, structured=True)
    key, root = backend.forward.key, kernel.group.root_name
    made = structured_kernel(kernel.group, key, own, spell, _is_kept(kernel, keeps))
    match kernel.route:
        case StructuredRoute.own_impl:
            return replace(made, meta_header=header(f"ops/{root}_meta.h"), says_outputs=True)
        case StructuredRoute.own_meta_and_impl:
            struct = made.meta.rpartition("::")[2]
            return replace(made, meta=f"{_meta_namespace(backend)}::{struct}")
        case StructuredRoute.installed:
            return replace(
                made,
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
    """Return `at::native::structured_mul_out`."""
    assert kernel.installed is not None
    namespace = kernel_namespace(kernel.group.primary.namespace, kernel.installed.namespace)
    return f"{namespace}::structured_{kernel.installed.name}"
