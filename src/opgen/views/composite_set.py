"""Which kernels opgen writes itself, and from which sibling each is made."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import NativeFunctionsGroup, NativeFunctionsViewGroup, Registry
from opgen.views.base import view


@view
class ViewCopy:
    """`function` returns clones of what the view `source` returns."""

    function: NativeFunction
    kernel: Kernel
    source: NativeFunction


@view
class FunctionalVariant:
    """`function` calls `source`, which is in-place or mutable, on clones of what it writes."""

    function: NativeFunction
    kernel: Kernel
    source: NativeFunction


@view
class OutVariant:
    """`function` calls the functional `source` and copies its results into the outs."""

    function: NativeFunction
    kernel: Kernel
    source: NativeFunction


CompositeKernel = ViewCopy | FunctionalVariant | OutVariant


def collect_composite_kernels(registry: Registry) -> tuple[CompositeKernel, ...]:
    """All of them: views' copies, then generated variants, each in the order of the registry."""
    return (
        *(copy for group in registry.view_groups for copy in _view_copies(group)),
        *(variant for group in registry.groups for variant in _generated_variants(group)),
    )


def _view_copies(group: NativeFunctionsViewGroup) -> Iterator[ViewCopy]:
    copy = group.view_copy
    # A sibling of another name (slice_scatter for slice_inverse) has a kernel of its own.
    if copy is None or copy.root_name != f"{group.view.root_name}_copy":
        return
    kernel = copy.find_kernel(DispatchKey.CompositeExplicitAutogradNonFunctional)
    if kernel is not None:
        yield ViewCopy(copy, kernel, group.view)


def _generated_variants(group: NativeFunctionsGroup) -> Iterator[CompositeKernel]:
    if "generated" in group.functional.tags:
        source = _written_sibling(group)
        yield FunctionalVariant(group.functional, _generated_kernel(group.functional), source)
    if "generated" in group.out.tags:
        yield OutVariant(group.out, _generated_kernel(group.out), group.functional)


def _generated_kernel(f: NativeFunction) -> Kernel:
    kernel = f.find_kernel(DispatchKey.CompositeExplicitAutograd)
    assert kernel is not None, f"{f.full_name} is generated without a kernel"
    return kernel


def _written_sibling(group: NativeFunctionsGroup) -> NativeFunction:
    """What a generated functional variant is made from: it never exists for itself alone."""
    sibling = group.inplace or group.mutable
    if sibling is not None and "generated" not in sibling.tags:
        return sibling
    assert group.out.func.kind() is SchemaKind.out
    return group.out
