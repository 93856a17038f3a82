"""RegisterAutograd[_n].cpp: kernels of autograd for operators without a formula."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opgen.emit.common.base import (
    GeneratedFile,
    Record,
    blocks,
    generated,
    sharded,
    sorted_includes,
)
from opgen.emit.common.callables import CALL_FOR_EACH, Kernel, boxed, find_batching, has_aliases
from opgen.emit.common.context import Context
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, Type
from opgen.resolve.functional_forms import find_views_of_first


class AutogradRow(Record, frozen=True):
    """The kernels of an operator: `kernel` for Autograd, `tracking` for ADInplaceOrView.

    `tracking` calls `refusal` if a gradient is required; vmap calls `batching`.
    """

    operator: str
    batching: Kernel | None
    kernel: Kernel | None = None
    tracking: Kernel | None = None
    refusal: Kernel | None = None


def build_register_autograd(context: Context) -> Iterator[GeneratedFile]:
    """Build RegisterAutograd[_n].cpp: the operators that do not decompose."""
    rows = [
        f
        for f in context.registry.functions
        if context.keeps(f) and not f.has_composite_implicit_autograd_kernel
    ]
    if not rows:
        return
    for name, some in sharded(
        "RegisterAutograd", rows, lambda f: f.root_name, context.library.shards
    ):
        views = [f for f in some if _is_view(context, f)]
        made = [(f.namespace, _row(context, f, f in views)) for f in some]
        yield generated(
            path=f"src/{name}.cpp",
            template="RegisterAutograd.cpp.j2",
            library=context.library.name,
            name=name,
            own_includes=_own_includes(bool(views), [row for _, row in made]),
            includes=operator_headers(context, views),
            refuses=any(row.refusal for _, row in made),
            batches=any(row.batching for _, row in made),
            blocks=blocks(made),
        )


def _own_includes(has_views: bool, rows: Sequence[AutogradRow]) -> tuple[str, ...]:
    used = {kernel for row in rows for kernel in (row.kernel, row.refusal)}
    writes = not used.isdisjoint((_OF_WRITTEN, _OF_WRITTEN_UNCOUNTED))
    loops = any(row.batching == CALL_FOR_EACH for row in rows)
    return sorted_includes(
        "opgen/autograd.h",
        "opgen/dispatch/registration.h",
        "torch/csrc/autograd/autograd_not_implemented_fallback.h",
        *(("opgen/autograd/autograd_view.h",) if has_views else ()),
        *(("opgen/autograd/autograd_written.h",) if writes else ()),
        *(("opgen/transforms/batching.h",) if loops else ()),
    )


def find_autograd_row(context: Context, f: NativeFunction) -> AutogradRow | None:
    """Return the kernels of autograd for `f`; None if `f` decomposes into operators with gradients."""
    if f.has_composite_implicit_autograd_kernel:
        return None
    return _row(context, f, _is_view(context, f))


def _row(context: Context, f: NativeFunction, view: bool) -> AutogradRow:
    name, batching = str(f.func.name), find_batching(f)
    recorded = f.full_name in context.recorded
    without_gradient = f.full_name in context.without_gradient
    is_plain = f.has_plain_autograd and not (recorded or without_gradient)
    if is_plain or not any(_may_hold_tensors(a.type) for a in f.func.arguments.flat_all):
        return AutogradRow(name, batching)
    if without_gradient and _leaves_room_for_formula(f):
        return AutogradRow(name, batching, _NO_GRADIENT)
    if not recorded and _leaves_room_for_formula(f):
        return AutogradRow(name, batching, tracking=boxed("refuse_gradients"), refusal=_refusal(f))
    tracking = _tracking(f, view)
    return AutogradRow(name, batching, None if recorded else _kernel(f, tracking), tracking)


_OF_WRITTEN = boxed("autograd_of_written")
_OF_WRITTEN_UNCOUNTED = boxed("autograd_of_written_uncounted")
_COUNTS_WRITES = boxed("count_writes")
_NO_GRADIENT = boxed("call_without_gradient")
NOT_IMPLEMENTED = Kernel("torch::autograd::autogradNotImplementedFallback()")
_NOT_IMPLEMENTED_VIEW = Kernel("torch::autograd::autogradNotImplementedInplaceOrViewFallback()")


# Types whose tensors PyTorch's kernel for operators without a formula finds; those of other types would have a gradient
# of zero.
_FOUND_BY_PYTORCH = re.compile(r"Tensor(\?|\[\d*\]\??)?")


def _refusal(f: NativeFunction) -> Kernel:
    """Return the kernel of a functional operator whose gradient is an error."""
    types = [*(a.type for a in f.func.arguments.flat_all), *(r.type for r in f.func.returns)]
    found = all(not _may_hold_tensors(t) or _FOUND_BY_PYTORCH.fullmatch(str(t)) for t in types)
    return NOT_IMPLEMENTED if found or not f.is_library else _OF_WRITTEN


def _may_hold_tensors(type: Type) -> bool:
    """Return whether an argument of this type may require a gradient, including lists and dicts of tensors, and Any."""
    return type.is_base_ty_like(BaseTy.Any) or "Tensor" in str(type)


def _leaves_room_for_formula(f: NativeFunction) -> bool:
    """Return whether torch.library.register_autograd accepts `f`: only functional operators.

    It registers a kernel for Autograd, and PyTorch warns if there is one already. So the kernel that rejects gradients is
    registered for a lower key.
    """
    return (
        bool(f.func.returns)
        and not has_aliases(f)
        and not _brings_formula(f)
        and f.find_kernel(DispatchKey.ADInplaceOrView) is None
        and "inplace_view" not in f.tags
    )


def _brings_formula(f: NativeFunction) -> bool:
    return any(key.name.startswith("Autograd") for key, _ in f.dispatch)


def _kernel(f: NativeFunction, tracking: Kernel | None) -> Kernel | None:
    """Return the kernel that throws when a gradient through `f` is computed; none if the author registers a formula."""
    if _brings_formula(f):
        return None
    # The kernels of autograd count the writes, unless another kernel for ADInplaceOrView does.
    is_counted = tracking == _COUNTS_WRITES
    if f.func.arguments.out:
        return boxed("autograd_of_out" if is_counted else "autograd_of_out_uncounted")
    if f.is_library and f.func.is_mutable:
        return _OF_WRITTEN if is_counted else _OF_WRITTEN_UNCOUNTED
    return NOT_IMPLEMENTED


def _tracking(f: NativeFunction, view: bool) -> Kernel | None:
    """Return the kernel that records views and writes for autograd."""
    if f.find_kernel(DispatchKey.ADInplaceOrView) is not None:
        return None
    if view:
        several = find_views_of_first(f) if len(f.func.returns) > 1 else ()
        arguments = ", ".join([operator_struct(f), *map(str, several)])
        return Kernel(f"opgen::tracked_view<{arguments}>()")
    if f.is_library:
        return _COUNTS_WRITES if f.func.is_mutable else None
    changes = f.is_view_op or any(a.is_write for a in f.func.arguments.flat_all)
    return _NOT_IMPLEMENTED_VIEW if changes else None


def _is_view(context: Context, f: NativeFunction) -> bool:
    """Return whether `f` returns views of its first argument: tensors, or a list of them."""
    if f.is_library:
        return f.is_view_op and bool(find_views_of_first(f))
    group = context.registry.view_group_of(f)
    return group is not None and f is group.view and len(f.func.returns) == 1
