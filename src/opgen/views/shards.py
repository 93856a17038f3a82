"""Which shard of a source file an operator belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence


def shard_of(root: str, count: int) -> int:
    """The shard (0 to count - 1) of a root name: a stable hash, so that a new operator moves none."""
    return int.from_bytes(hashlib.sha1(root.encode()).digest()[:8], "little") % count


def shards_by_root(
    stem: str, roots: Sequence[str], count: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """File stems with their roots: `stem` alone for one shard, else `stem_0`, `stem_1`, ..."""
    if count == 1:
        yield stem, tuple(roots)
        return
    for shard in range(count):
        yield f"{stem}_{shard}", tuple(r for r in roots if shard_of(r, count) == shard)
