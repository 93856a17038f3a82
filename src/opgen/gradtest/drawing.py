"""Draw the arguments of calls whose gradients are checked."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from opgen.drawing.domains import EVERYTHING, Between, Domain
from opgen.drawing.drawer import (
    RANKS,
    Choices,
    Plan,
    RandomChoices,
    Undrawable,
    Vocabulary,
    product,
)
from opgen.drawing.drawer import Drawer as SharedDrawer
from opgen.gradtest.backends import Tensors
from opgen.model.function_schema import Argument
from opgen.model.types import BaseType

__all__ = ["Draw", "Drawer", "Plan", "Undrawable"]

_MOST_ELEMENTS = 12
_LAYOUTS = ("dense", "dense", "transposed", "strided")
# Elements are multiples of this plus a little: distinct, and away from 0.
_STEP = 0.02
_SPAN = 2.0


class Draw:
    """Draws the arguments of one call. All elements of all its tensors are distinct."""

    def __init__(
        self, tensors: Tensors, dtype: str, generator: random.Random, rank: int | None = None
    ) -> None:
        self._tensors = tensors
        self.dtype = dtype
        self.random = generator
        self._used: set[int] = set()
        rank = generator.choice(RANKS) if rank is None else rank
        self.base: tuple[int, ...] = ()
        for _ in range(rank):
            most = max(1, min(4, _MOST_ELEMENTS // product(self.base)))
            self.base += (generator.randint(1, most),)
        self.base = tuple(generator.sample(self.base, rank))

    # What authors call.

    def tensor(
        self,
        *shape: int,
        dtype: str | None = None,
        low: float = -_SPAN,
        high: float = _SPAN,
        values: Between | None = None,
    ) -> Any:
        """Return a tensor of the dtype that is checked, or another, with elements from `low` to `high`."""
        chosen = self.dtype if dtype is None else dtype
        count = product(shape)
        if chosen == "bool":
            return self._make([self.yes() for _ in range(count)], shape, chosen)
        among = Between(low, high) if values is None else values
        return self._make([self._element(among, chosen) for _ in range(count)], shape, chosen)

    def integers(self, *shape: int, below: int, low: int = 0) -> Any:
        """Return a tensor of integers from `low` to `below` - 1: indices."""
        numbers = [self.random.randrange(low, below) for _ in range(product(shape))]
        return self._make(numbers, shape, "int64")

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""
        return self.random.randint(low, high)

    def number(self, low: float, high: float) -> float:
        """Return a number from `low` to `high`."""
        return self.random.uniform(low, high)

    def choice(self, choices: Sequence[Any]) -> Any:
        """Return one of some values."""
        return self.random.choice(choices)

    def yes(self) -> bool:
        """Return True in half of the calls."""
        return self.random.random() < 0.5

    # What drawers call.

    def tensor_of(
        self, shape: tuple[int, ...], words: Sequence[str], values: Between | None
    ) -> Any:
        if words[0] == "int64":
            low, high = (0, 3) if values is None else (int(values.low), int(values.high) + 1)
            return self.integers(*shape, low=low, below=high)
        return self.tensor(*shape, dtype=words[0], values=values)

    def size(self, letter: str) -> int:
        raise AssertionError("no letters are in the vocabulary")

    def other(self, type: BaseType, words: Sequence[str]) -> Any:
        raise AssertionError("no other types are in the vocabulary")

    # How the values are made.

    def _make(self, values: Sequence[Any], shape: Sequence[int], dtype: str) -> Any:
        return self._tensors.tensor(values, shape, dtype, self.random.choice(_LAYOUTS))

    def _element(self, among: Between, dtype: str) -> Any:
        real = self._real(among)
        return complex(real, self._real(Between(-1, 1))) if dtype.startswith("complex") else real

    def _real(self, among: Between) -> float:
        """Return a number that no other element is near to, if the range has one."""
        found = self.random.uniform(among.low, among.high)
        for _ in range(200):
            place = round(found / _STEP)
            if place not in self._used and place != 0 and among.contains(found):
                self._used.add(place)
                # No nearer to its neighbours than half a step.
                inner = place * _STEP + (found - place * _STEP) / 2
                return inner if among.contains(inner) else found
            found = self.random.uniform(among.low, among.high)
        return found


class Drawer(SharedDrawer):
    """Draws calls of one operator with tensors of one dtype, and indices."""

    def __init__(
        self,
        arguments: Sequence[Argument],
        differentiable: Sequence[str],
        tensors: Tensors,
        dtype: str,
        domain: Domain = EVERYTHING,
        seed: str = "",
    ) -> None:
        self.random = random.Random(seed)
        with_gradient = frozenset(differentiable)

        def dtypes(argument: Argument, choices: Choices) -> tuple[str, ...]:
            if argument.name not in with_gradient:
                return (choices.choice((dtype, "int64", "int64", "bool")),)
            real = dtype.startswith("complex") and choices.chance(0.15)
            return ("float64" if real else dtype,)

        def begin(plan: Plan) -> Draw:
            return Draw(tensors, dtype, self.random, len(plan[""]) if "" in plan else None)

        super().__init__(arguments, RandomChoices(self.random), Vocabulary(dtypes), begin, domain)
