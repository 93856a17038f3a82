"""The world that a target's libraries are compiled against."""

from __future__ import annotations

from opgen.dataclasses import dataclass

Release = tuple[int, int]


@dataclass(frozen=True, slots=True)
class World:
    """A package of Python that libraries are compiled against: from release `oldest` on, tried up to `newest`."""

    package: str
    oldest: Release
    newest: Release
