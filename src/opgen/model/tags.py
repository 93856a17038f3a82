"""The tags that operators may have."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct


class Tag(Struct, frozen=True):
    """A tag; `desc` describes it in one or more sentences."""

    name: str
    desc: str


class TagSet(Struct, frozen=True, dict=True):
    """All declared tags, each once, in the order of the file.

    `is_whole` is False if the file has errors: then there may be more tags than these.
    """

    tags: tuple[Tag, ...]
    is_whole: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names, computed once: every entry is checked against them."""
        return tuple(tag.name for tag in self.tags)

    def __contains__(self, name: object) -> bool:
        return name in self.names
