"""The tags that operators may carry."""

from __future__ import annotations

from opgen.dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tag:
    """`desc` says in a sentence or more what it means."""

    name: str
    desc: str


@dataclass(frozen=True, slots=True)
class TagSet:
    """All declared tags, each once, in the order of the file.

    `is_whole` is False if the file has errors: then there may be more tags than these.
    """

    tags: tuple[Tag, ...]
    is_whole: bool = True
    # Every entry asks for them.
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(tag.name for tag in self.tags))

    def __contains__(self, name: object) -> bool:
        return name in self.names
