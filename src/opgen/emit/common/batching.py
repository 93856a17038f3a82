"""Find the kernel that vmap calls for an operator: its decomposition, a loop over the batch, or one that throws."""

from __future__ import annotations

from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import OPTIONAL_TENSOR, TENSOR
from opgen.model.native_function import NativeFunction
from opgen.resolve.functional_forms import finds_tensors

_RULES = (DispatchKey.FuncTorchBatched, DispatchKey.FuncTorchBatchedDecomposition)


def boxed(function: str) -> str:
    """Return the expression that registers the boxed function opgen::`function`."""
    return f"torch::CppFunction::makeFromBoxedFunction<&opgen::{function}>()"


CALL_FOR_EACH = boxed("call_for_each")
_REFUSE = boxed("refuse_batches")


def has_aliases(f: NativeFunction) -> bool:
    """Return whether `f` writes an argument or returns a view."""
    annotations = [
        *(a.annotation for a in f.func.arguments.flat_all),
        *(r.annotation for r in f.func.returns),
    ]
    return any(annotation is not None for annotation in annotations)


def decomposes(f: NativeFunction, key: DispatchKey, layer: DispatchKey) -> bool:
    """Return whether the composite kernel of `f` for `key` also serves `layer`: Functionalize, or the layer of vmap.

    A CompositeImplicitAutograd kernel only calls operators. PyTorch decomposes those of ATen. For other operators that
    write an argument or return a view, PyTorch throws an error when it functionalizes them, and its vmap calls them once
    for each element: existing functions may rely on that, as those do that use autograd::Function. A CompositeExplicitAutograd kernel may read memory, so it is used only where PyTorch would throw an
    error: for views.
    """
    aliases = has_aliases(f)
    if any(f.find_kernel(rule) is not None for rule in _of_layer(layer)):
        return False
    if key is DispatchKey.CompositeImplicitAutograd:
        if layer is DispatchKey.FuncTorchBatchedDecomposition:
            return not f.has_plain_autograd or f.is_view_op or not _falls_back(f)
        return aliases
    return (
        layer is DispatchKey.FuncTorchBatchedDecomposition
        and f.is_library
        and f.is_view_op
        and not f.func.is_mutable
    )


def find_batching(f: NativeFunction) -> str:
    """Return the vmap kernel of `f`, which has no CompositeImplicitAutograd kernel; empty if PyTorch's fallback serves
    it.
    """
    if any(f.find_kernel(rule) is not None for rule in _RULES):
        return ""
    if "inplace_view" in f.tags:
        return _REFUSE
    if not f.is_library:
        return ""
    arguments = f.func.arguments
    if f.is_view_op:
        return "" if f.has_composite_explicit_autograd_kernel else _REFUSE
    if arguments.out:
        return _REFUSE
    if not all(finds_tensors(a.type) for a in arguments.flat_all):
        return ""
    return "" if _falls_back(f) else CALL_FOR_EACH


def _falls_back(f: NativeFunction) -> bool:
    """Return whether PyTorch calls `f` once for each element of a batch. Source: functorch's BatchedFallback.cpp, by trial."""
    every = f.func.arguments.flat_all
    if not all(a.type in (TENSOR, OPTIONAL_TENSOR) for a in every if a.type.is_tensor_like()):
        return False
    if not f.func.returns or any(r.type != TENSOR for r in f.func.returns):
        return False
    if not f.func.is_mutable:
        return True
    written = [a for a in every if a.is_write]
    return (
        written == [every[0]]
        and every[0].type == TENSOR
        and f.func.aliased_return_names() == (every[0].name,)
    )


def _of_layer(layer: DispatchKey) -> tuple[DispatchKey, ...]:
    return (layer,) if layer is DispatchKey.Functionalize else _RULES
