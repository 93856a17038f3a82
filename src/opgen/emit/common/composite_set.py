"""Collect the kernels that opgen generates itself, each with the operator that it calls."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.emit.common.base import Record
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import NativeFunctionsGroup, NativeFunctionsViewGroup, Registry
from opgen.resolve.functional_forms import has_own_copy


class ViewCopy(Record, frozen=True):
    """`function` calls the view operator `source` and returns clones of its results."""

    function: NativeFunction
    kernel: Kernel
    source: NativeFunction


class FunctionalVariant(Record, frozen=True):
    """`function` calls `source`, which is in-place or mutable, with clones of the arguments that it writes."""

    function: NativeFunction
    kernel: Kernel
    source: NativeFunction


class OutVariant(Record, frozen=True):
    """`function` calls the functional `source` and copies its results into the outs."""

    function: NativeFunction
    kernel: Kernel
    source: NativeFunction


CompositeKernel = ViewCopy | FunctionalVariant | OutVariant


def collect_composite_kernels(registry: Registry) -> tuple[CompositeKernel, ...]:
    """Return the copies of views, then the generated variants, each in the order of the registry."""
    return (
        *(copy for group in registry.view_groups for copy in _view_copies(group)),
        *(variant for group in registry.groups for variant in _generated_variants(group)),
    )


def _view_copies(group: NativeFunctionsViewGroup) -> Iterator[ViewCopy]:
    copy = group.view_copy
    # slice_scatter, which copies for slice_inverse, has another name than `f_copy`, and a kernel of its own.
    if copy is None or not has_own_copy(copy, group.view):
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
    """Return the operator that a generated functional variant calls; it always exists."""
    sibling = group.inplace or group.mutable
    if sibling is not None and "generated" not in sibling.tags:
        return sibling
    assert group.out.func.kind() is SchemaKind.out
    return group.out
