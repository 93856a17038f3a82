"""Tags of operators that a target's world takes for more than they say."""

from __future__ import annotations

from opgen.model.function_schema import TENSOR
from opgen.model.native_function import NativeFunction


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """The tags that `f` is registered with: all."""
    return f.tags


def tags_that_inductor_follows(f: NativeFunction) -> frozenset[str]:
    """All, but `out` where PyTorch's inductor would call the operator with other arguments than it was given.

    In place of a functional operator of one result, inductor calls an overload that is tagged `out`: first
    with the tensors, then with all other arguments, then once more with those that have a name in its
    graph. So it is right for tensors alone. Source: calls that torch 2.13 wrote; the test of
    tests/run/torch_aten/compiled.py with inductor runs them.
    """
    takes_tensors_alone = all(a.type == TENSOR for a in f.func.arguments.flat_non_out)
    if takes_tensors_alone or len(f.func.returns) != 1:
        return f.tags
    return f.tags - {"out"}
