"""Tags of operators that a target's world takes for more than they say."""

from __future__ import annotations

from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """The tags that `f` is registered with: all."""
    return f.tags


def tags_that_pytorch_follows(f: NativeFunction) -> frozenset[str]:
    """All but those by which PyTorch compiles something else than `f`. Source: torch 2.13, by trial.

    `out`: inductor calls an overload that has it in place of the functional operator, and does so wrongly: with arguments
    other than tensors in another order and twice, and with tensors of sizes that change not at all ("LoweringException:
    AssertionError"). See tests/run/torch_aten/compiled.py and tests/run/torch_library/forms.py.

    `inplace`: functionalization takes it for a tensor that comes first, is the only one that is written, and is returned.
    Of others, such as `f_(Tensor(a!)[] self) -> ()`, it fails ("'list' object has no attribute '_base'") or loses
    what they write. See tests/run/torch_everyday.
    """
    misread = {"out"} if _writes_self_alone(f) else {"out", "inplace"}
    return f.tags - misread


def _writes_self_alone(f: NativeFunction) -> bool:
    """Whether the first argument is a tensor, the only one that is written, and the only result."""
    arguments = f.func.arguments
    if not arguments.flat_positional:
        return False
    first = arguments.flat_positional[0]
    return (
        first.type == BaseType(BaseTy.Tensor)
        and arguments.mutable_arg_names == (first.name,)
        and f.func.aliased_return_names() == (first.name,)
    )
