"""Where the choices of a drawing come from: a generator of random numbers, or another source with these methods."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Protocol


class Choices(Protocol):
    """A source of choices."""

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""

    def number(self, low: float, high: float) -> float:
        """Return a number from `low` to `high`."""

    def choice(self, choices: Sequence[Any]) -> Any:
        """Return one of some values; the first ones are the simplest."""

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""


class RandomChoices:
    """Independent random choices."""

    def __init__(self, generator: random.Random) -> None:
        self.random = generator

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def number(self, low: float, high: float) -> float:
        return self.random.uniform(low, high)

    def choice(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability
