"""Divide source files into shards, by the operators' root names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from opgen.emit.common.base import group_by

T = TypeVar("T")


def shard_of(root: str, count: int) -> int:
    """Return the shard (0 to count - 1) of a root name: a stable hash, so that a new operator does not move others."""
    return int.from_bytes(hashlib.sha1(root.encode()).digest()[:8], "little") % count


def sharded(
    stem: str, items: Iterable[T], root: Callable[[T], str], count: int
) -> Iterator[tuple[str, tuple[T, ...]]]:
    """Yield file stems with their items: `stem` alone for one shard, else `stem_0`, `stem_1`, ..., without empty ones.

    `root` is the root name of an item's operator. All code of an operator is in one shard of each
    source, so an edit of the operator compiles only that shard.
    """
    if count == 1:
        yield stem, tuple(items)
        return
    for shard, members in sorted(group_by(items, lambda item: shard_of(root(item), count)).items()):
        yield f"{stem}_{shard}", tuple(members)
