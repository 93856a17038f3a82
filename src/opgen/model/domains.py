"""What authors say about the arguments of an operator: which values it is checked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

# The values of one argument: a range for numbers and elements, or a list of choices for anything.
Values: TypeAlias = "Between | OneOf"


class Between:
    """Numbers, or elements of tensors, from `low` to `high`, and none within `gap` of the `points`."""

    def __init__(
        self, low: float, high: float, points: Sequence[float] = (), gap: float = 0.0
    ) -> None:
        if not low < high:
            raise ValueError(f"no number is above {low} and below {high}")
        self.low, self.high, self.points, self.gap = low, high, tuple(points), gap

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high and all(
            abs(value - point) >= self.gap for point in self.points
        )

    def __str__(self) -> str:
        away = f", not within {self.gap} of {', '.join(map(str, self.points))}"
        return f"from {self.low} to {self.high}{away if self.points else ''}"


class OneOf:
    """One of some values."""

    def __init__(self, *choices: Any) -> None:
        if not choices:
            raise ValueError("one_of() needs a choice")
        self.choices = choices

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.choices))}"


def between(low: float, high: float) -> Between:
    """Numbers, or elements of a tensor, from `low` to `high`."""
    return Between(low, high)


def away_from(*points: float, by: float = 0.1, low: float = -2.0, high: float = 2.0) -> Between:
    """Numbers, or elements of a tensor, that are not near `points`: where the operator has a kink or a pole."""
    return Between(low, high, points, by)


def one_of(*choices: Any) -> OneOf:
    """One of these values, for an argument of any type except tensors."""
    return OneOf(*choices)


positive = Between(0.1, 2.0)

# A tensor with more elements takes more memory than the calls of a verification can have.
MOST_ELEMENTS = 1 << 26


def shape_problem(sizes: Sequence[int | str]) -> str:
    """Return what is wrong with a shape of numbers and letters, or ""."""
    count = 1
    for size in sizes:
        if isinstance(size, str):
            if not size.isidentifier():
                return f"a size is a number or a letter, not '{size}'"
            continue
        if size < 0:
            return f"a size is not negative: {size}"
        count *= size
    if count > MOST_ELEMENTS:
        return f"a tensor has at most {MOST_ELEMENTS} elements here, not {count}"
    return ""


class Domain:
    """What one operator is checked at, where the schema alone does not say it.

    `arguments` are values by the names of arguments. `make` is a function of a `Draw` that returns arguments by name; all
    others are drawn from the schema. Without `batched`, no gradient is computed by vmap. Without `second_order`, there
    are no second derivatives. Without `compiled`, no call runs under torch.compile. `dtypes` are those that are checked. `why` is printed with the narrowing.

    For opgen.verify: `shapes` are sizes of tensors by name, each a number or a letter that stands for the same size
    everywhere. `skip` are properties that are not checked, by name, each with a reason. With `unspecified`, the elements of
    results may be anything. `non_differentiable` are arguments without a gradient.
    """

    def __init__(
        self,
        /,
        *,
        make: Callable[[Any], Mapping[str, Any]] | None = None,
        dtypes: Sequence[str] | None = None,
        second_order: bool = True,
        batched: bool = True,
        compiled: bool = True,
        why: str = "",
        shapes: Mapping[str, Sequence[int | str]] | None = None,
        skip: Mapping[str, str] | None = None,
        unspecified: bool = False,
        non_differentiable: Sequence[str] = (),
        **arguments: Values,
    ) -> None:
        self.make = make
        self.dtypes = None if dtypes is None else tuple(dtypes)
        self.second_order = second_order
        self.batched = batched
        self.compiled = compiled
        self.why = why
        self.shapes = {name: tuple(sizes) for name, sizes in (shapes or {}).items()}
        for name, sizes in self.shapes.items():
            if problem := shape_problem(sizes):
                raise ValueError(f"the shape of '{name}': {problem}")
        self.skip = dict(skip or {})
        self.unspecified = unspecified
        self.non_differentiable = tuple(non_differentiable)
        self.arguments = arguments

    def narrowings(self) -> tuple[str, ...]:
        """Return what this leaves out, one text for each point."""
        found = [f"{name}: {values}" for name, values in self.arguments.items()]
        found += [f"{name}: sizes {', '.join(map(str, s))}" for name, s in self.shapes.items()]
        if self.make is not None:
            found.append(f"arguments by {self.make.__name__}()")
        if self.dtypes is not None:
            found.append(f"dtypes: {', '.join(self.dtypes)}")
        if not self.second_order:
            found.append("no second derivatives")
        if not self.batched:
            found.append("no vmap")
        if not self.compiled:
            found.append("no torch.compile")
        if self.unspecified:
            found.append("elements of results may be anything")
        found += [f"{name}: no gradient" for name in self.non_differentiable]
        found += [f"not {name}: {why}" for name, why in self.skip.items()]
        if self.why:
            found.append(f"because {self.why}")
        return tuple(found)


EVERYTHING = Domain()
