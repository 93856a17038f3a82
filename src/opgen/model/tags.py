"""The tags that operators may carry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tag:
    """`desc` says in a sentence or more what it means."""

    name: str
    desc: str


@dataclass(frozen=True, slots=True)
class TagSet:
    """All declared tags, each once, in the order of the file."""

    tags: tuple[Tag, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(tag.name for tag in self.tags)

    def __contains__(self, name: object) -> bool:
        return any(tag.name == name for tag in self.tags)
