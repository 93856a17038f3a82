"""Tags of operators that a target's world takes for more than they say."""

from __future__ import annotations

from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """The tags that `f` is registered with: all."""
    return f.tags


def tags_that_inductor_follows(f: NativeFunction) -> frozenset[str]:
    """All, but `out` where PyTorch's inductor would call the operator with its arguments in another order.

    In place of a functional operator, inductor calls an overload that is tagged `out`: first with the
    tensors, then with all other arguments, and then with those by name once more. Source: calls that
    torch 2.13 wrote; tests/run/torch_aten/compiled.py runs them.
    """
    if "out" not in f.tags or len(f.func.returns) != 1 or _tensors_come_first(f):
        return f.tags
    return f.tags - {"out"}


def _tensors_come_first(f: NativeFunction) -> bool:
    """Whether plain tensors are followed by what is no tensor, and nothing has to be named."""
    arguments = f.func.arguments
    tensor = BaseType(BaseTy.Tensor)
    are_tensors = [argument.type == tensor for argument in arguments.flat_positional]
    return (
        not arguments.flat_kwarg_only
        and are_tensors == sorted(are_tensors, reverse=True)
        and sum(are_tensors) == sum(a.type.is_tensor_like() for a in arguments.flat_positional)
    )
