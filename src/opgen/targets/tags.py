"""Which tags of an operator a target registers, and how they are spelled.

Facts about PyTorch's releases are in `releases`.
"""

from __future__ import annotations

from collections.abc import Collection

from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType
from opgen.targets.releases import TAG_SINCE, UNREGISTERED_TAGS


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """The tags that `f` is registered with: all."""
    return f.tags


def tags_that_pytorch_follows(f: NativeFunction) -> frozenset[str]:
    """All but those by which PyTorch compiles something else than `f`, in some release: `releases.UNREGISTERED_TAGS`, and `inplace`
    where it is misread.

    `inplace`: functionalization takes it for a tensor that comes first, is the only one that is written, and is returned.
    Of others, such as `f_(Tensor(a!)[] self) -> ()`, it fails ("'list' object has no attribute '_base'") or loses
    what they write. Source: torch 2.13, by trial; tests/run/torch_everyday.
    """
    misread = frozenset() if _writes_self_alone(f) else frozenset({"inplace"})
    return f.tags - UNREGISTERED_TAGS.keys() - misread


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


def spell_tags(names: Collection[str]) -> str:
    """The list of tags that `m.def` of PyTorch takes. Of those that came with a later release than the oldest, each
    release takes what it has: opgen/release.h leaves out the others."""
    always = ", ".join(f"at::Tag::{name}" for name in names if name not in TAG_SINCE)
    later = ", ".join(f"opgen::tag::{name}" for name in names if name in TAG_SINCE)
    # In braces, since m.def takes a vector that stands there by itself for a kernel.
    return f"{{opgen::tags_there_are<{later}>({{{always}}})}}" if later else f"{{{always}}}"
