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

    @property
    def releases(self) -> tuple[str, ...]:
        """`2.9`, `2.10`, ...: from the oldest to the newest, which have the same first number."""
        major, first = self.oldest
        return tuple(f"{major}.{minor}" for minor in range(first, self.newest[1] + 1))
