"""Which tags of an operator a target registers, and how they are spelled.

Facts about PyTorch's releases are in `releases`.
"""

from __future__ import annotations

from collections.abc import Collection

from opgen.model.native_function import NativeFunction
from opgen.targets.releases import TAG_SINCE, UNREGISTERED_TAGS


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """The tags that `f` is registered with: all."""
    return f.tags


def tags_that_pytorch_follows(f: NativeFunction) -> frozenset[str]:
    """All but those that a release of PyTorch mishandles."""
    return f.tags - UNREGISTERED_TAGS.keys()


def spell_tags(names: Collection[str]) -> str:
    """The list of tags that `m.def` of PyTorch takes. Of those that came with a later release than the oldest, each
    release takes what it has: opgen/release.h leaves out the others."""
    always = ", ".join(f"at::Tag::{name}" for name in names if name not in TAG_SINCE)
    later = ", ".join(f"opgen::tag::{name}" for name in names if name in TAG_SINCE)
    # In braces, since m.def takes a vector that stands there by itself for a kernel.
    return f"{{opgen::tags_there_are<{later}>({{{always}}})}}" if later else f"{{{always}}}"
