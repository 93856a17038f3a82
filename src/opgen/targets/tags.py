"""Choose and spell the tags of an operator that a target registers.

Facts about PyTorch's releases are in `releases`.
"""

from __future__ import annotations

from collections.abc import Collection

from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType
from opgen.targets.releases import TAG_SINCE, UNREGISTERED_TAGS


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """Return the tags that `f` is registered with: all of its tags."""
    return f.tags


def tags_that_pytorch_follows(f: NativeFunction) -> frozenset[str]:
    """Return the tags of `f`, except those with which some release of PyTorch compiles wrong code: `releases.UNREGISTERED_TAGS`,
    and `inplace` for operators that PyTorch misunderstands.

    For `inplace`, functionalization assumes that the first argument is a tensor, and that the operator writes and returns
    only this argument. For other operators, such as `f_(Tensor(a!)[] self) -> ()`, it fails ("'list' object has no attribute
    '_base'") or loses the written values. Source: torch 2.13, by trial; tests/integration/run/torch_everyday.
    """
    misread = frozenset() if _writes_self_alone(f) else frozenset({"inplace"})
    return f.tags - UNREGISTERED_TAGS.keys() - misread


def _writes_self_alone(f: NativeFunction) -> bool:
    """Return whether the first argument is a tensor, the only one that is written, and the only result."""
    arguments = f.func.arguments
    if not arguments.flat_positional:
        return False
    first = arguments.flat_positional[0]
    return (
        first.type == BaseType(BaseTy.Tensor)
        and arguments.mutable_arg_names == (first.name,)
        and f.func.aliased_return_names() == (first.name,)
    )


def spell_tags(names: Collection[str]) -> str:
    """Return the list of tags for PyTorch's `m.def`. opgen/core/release.h leaves out tags that the release does not have."""
    always = ", ".join(f"at::Tag::{name}" for name in names if name not in TAG_SINCE)
    later = ", ".join(f"opgen::tag::{name}" for name in names if name in TAG_SINCE)
    # In braces: m.def would treat a vector without braces as a kernel.
    return f"{{opgen::tags_there_are<{later}>({{{always}}})}}" if later else f"{{{always}}}"
