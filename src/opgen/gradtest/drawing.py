"""Draw the arguments of calls from a schema.

A *plan* says how each argument is drawn: "as large as the others", "a vector of the last size", "None". Plans whose calls
an operator accepts are drawn again, with other sizes and values, so that few calls are refused.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from opgen.gradtest.backends import Tensors
from opgen.gradtest.domains import EVERYTHING, Between, Domain, OneOf
from opgen.model.function_schema import Argument
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

# How an argument is drawn: words.
Plan: TypeAlias = dict[str, tuple[str, ...]]

_RANKS = (0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4)
_MOST_ELEMENTS = 12
_SHAPES = (
    *("full",) * 8,
    *("last",) * 3,
    *("first",) * 2,
    *("scalar",) * 2,
    *("ones",) * 2,
    *("without last", "without first"),
    *("vector", "vector", "matrix", "any, last", "first, any", "last, any"),
)
_LAYOUTS = ("dense", "dense", "transposed", "strided")
# Elements are multiples of this plus a little: distinct, and away from 0.
_STEP = 0.02
_SPAN = 2.0


class Undrawable(Exception):
    """No value of a type can be drawn: the author has to name some."""


class Draw:
    """Draws the arguments of one call. All elements of all its tensors are distinct."""

    def __init__(self, tensors: Tensors, dtype: str, generator: random.Random) -> None:
        self._tensors = tensors
        self.dtype = dtype
        self.random = generator
        self._used: set[int] = set()
        rank = generator.choice(_RANKS)
        self.base: tuple[int, ...] = ()
        for _ in range(rank):
            most = max(1, min(4, _MOST_ELEMENTS // _product(self.base)))
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
        count = _product(shape)
        if chosen == "bool":
            return self._make([self.yes() for _ in range(count)], shape, chosen)
        among = Between(low, high) if values is None else values
        return self._make([self._element(among, chosen) for _ in range(count)], shape, chosen)

    def integers(self, *shape: int, below: int, low: int = 0) -> Any:
        """Return a tensor of integers from `low` to `below` - 1: indices."""
        numbers = [self.random.randrange(low, below) for _ in range(_product(shape))]
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


class Drawer:
    """Draws the arguments of calls of one operator, and learns which of its plans the operator accepts."""

    def __init__(
        self,
        arguments: Sequence[Argument],
        differentiable: Sequence[str],
        tensors: Tensors,
        dtype: str,
        domain: Domain = EVERYTHING,
        seed: str = "",
    ) -> None:
        self.arguments = arguments
        self.differentiable = frozenset(differentiable)
        self.tensors = tensors
        self.dtype = dtype
        self.domain = domain
        self.random = random.Random(seed)
        self.accepted: list[Plan] = []

    def draw(self) -> tuple[dict[str, Any], Plan]:
        """Return the arguments of a call by name, and the plan that they are made by."""
        draw = Draw(self.tensors, self.dtype, self.random)
        known = self.accepted and self.random.random() < 0.8
        plan = dict(self.random.choice(self.accepted)) if known else {}
        if "" in plan:
            draw.base = self._base(len(plan[""]))
        plan[""] = ("size",) * len(draw.base)
        made: Mapping[str, Any] = {} if self.domain.make is None else self.domain.make(draw)
        call: dict[str, Any] = {}
        for argument in self.arguments:
            name = argument.name
            if name in made:
                call[name] = made[name]
            elif isinstance(values := self.domain.arguments.get(name), OneOf):
                call[name] = draw.choice(values.choices)
            else:
                words = plan.setdefault(name, self._plan(argument))
                if words != ("default",):
                    call[name] = self._value(argument, argument.type, words, values, draw)
        return call, plan

    def _base(self, rank: int) -> tuple[int, ...]:
        while True:
            base = Draw(self.tensors, self.dtype, self.random).base
            if len(base) == rank:
                return base

    # Plans.

    def _plan(self, argument: Argument) -> tuple[str, ...]:
        if argument.default is not None and (
            self.random.random() < 0.3 or not self._is_drawable(argument.type)
        ):
            return ("default",)
        return self._plan_of_type(argument, argument.type)

    def _plan_of_type(self, argument: Argument, type: Type) -> tuple[str, ...]:
        choose = self.random.choice
        if isinstance(type, OptionalType):
            if self.random.random() < 0.3 or not self._is_drawable(type.elem):
                return ("none",)
            return self._plan_of_type(argument, type.elem)
        if isinstance(type, ListType):
            if type.is_tensor_like():
                count = str(type.size or choose((1, 2, 2, 3)))
                return (count, *self._plan_of_tensor(argument))
            return (choose(("sizes", "dimensions", "small", "small", "base")),)
        if type == BaseType(BaseTy.Tensor):
            return self._plan_of_tensor(argument)
        if type in (BaseType(BaseTy.int), BaseType(BaseTy.SymInt)):
            if "dim" in argument.name and "size" not in argument.name:
                return ("dimension",)
            return (choose(("small", "small", "dimension", "size", "negative")),)
        if type in (BaseType(BaseTy.float), BaseType(BaseTy.Scalar)):
            return (choose(("positive", "positive", "any")),)
        return ("value",)

    def _plan_of_tensor(self, argument: Argument) -> tuple[str, ...]:
        shape = self.random.choice(_SHAPES)
        if argument.name in self.differentiable:
            real = self.dtype.startswith("complex") and self.random.random() < 0.15
            return (shape, "float64" if real else self.dtype)
        return (shape, self.random.choice((self.dtype, "int64", "int64", "bool")))

    def _is_drawable(self, type: Type) -> bool:
        drawable = (BaseTy.Tensor, BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.Scalar)
        return any(type.is_base_ty_like(base) for base in (*drawable, BaseTy.bool))

    def narrowings(self) -> tuple[str, ...]:
        """Return what is never drawn: of arguments of some types only the default, or None."""
        return tuple(
            f"{a.name}: {'None' if a.default is None else f'its default, {a.default}'}"
            for a in self.arguments
            if a.name not in self.domain.arguments
            and not self._is_drawable(a.type)
            and (a.default is not None or a.type.is_nullable())
        )

    # Values.

    def _value(
        self,
        argument: Argument,
        type: Type,
        words: tuple[str, ...],
        values: Between | None,
        draw: Draw,
    ) -> Any:
        if words == ("none",):
            return None
        while isinstance(type, OptionalType):
            type = type.elem
        if isinstance(type, ListType):
            if type.is_tensor_like():
                return [self._tensor(words[1:], values, draw) for _ in range(int(words[0]))]
            return self._list(argument, type, words[0], draw)
        if type == BaseType(BaseTy.Tensor):
            return self._tensor(words, values, draw)
        if type in (BaseType(BaseTy.int), BaseType(BaseTy.SymInt)):
            return self._integer(words[0], values, draw)
        if type in (BaseType(BaseTy.float), BaseType(BaseTy.Scalar)):
            between = values or (Between(0.25, 1.5) if words[0] == "positive" else Between(-2, 2))
            return draw.number(between.low, between.high)
        if type == BaseType(BaseTy.bool):
            return draw.yes()
        raise Undrawable(
            f"no value of type {type} is known for '{argument.name}': name some, "
            f"Domain({argument.name}=one_of(...))"
        )

    def _integer(self, how: str, values: Between | None, draw: Draw) -> int:
        rank = max(1, len(draw.base))
        if values is not None:
            return draw.integer(int(values.low), int(values.high))
        if how == "dimension":
            return draw.integer(-rank, rank - 1)
        if how == "size":
            return self.random.choice(draw.base or (1,))
        return -draw.integer(1, 3) if how == "negative" else draw.integer(0, 4)

    def _list(self, argument: Argument, type: ListType, how: str, draw: Draw) -> list[Any]:
        count = type.size or draw.integer(1, 3)
        if type.is_base_ty_like(BaseTy.bool):
            return [draw.yes() for _ in range(count)]
        if type.is_base_ty_like(BaseTy.float) or type.is_base_ty_like(BaseTy.Scalar):
            return [draw.number(0.25, 1.5) for _ in range(count)]
        if not (type.is_base_ty_like(BaseTy.int) or type.is_base_ty_like(BaseTy.SymInt)):
            raise Undrawable(f"no {type} is known: Domain({argument.name}=one_of(...))")
        if how == "base":
            return list(draw.base)
        if how == "dimensions":
            rank = len(draw.base)
            return self.random.sample(range(rank), min(count, rank))
        return [draw.integer(1 if how == "sizes" else 0, 3) for _ in range(count)]

    def _tensor(self, words: tuple[str, ...], values: Between | None, draw: Draw) -> Any:
        shape = self._shape(words[0], draw)
        if words[1] == "int64":
            low, high = (0, 3) if values is None else (int(values.low), int(values.high) + 1)
            return draw.integers(*shape, low=low, below=high)
        return draw.tensor(*shape, dtype=words[1], values=values)

    def _shape(self, how: str, draw: Draw) -> tuple[int, ...]:
        base, fresh = draw.base, draw.integer(1, 4)
        if how in ("full", "scalar"):
            return base if how == "full" else ()
        if how == "ones":
            kept = [size if draw.yes() else 1 for size in base]
            return tuple(kept[draw.integer(0, len(kept)) :] if draw.yes() else kept)
        if how in ("last", "first"):
            return base[-1:] if how == "last" else base[:1]
        if how in ("without last", "without first"):
            return base[:-1] if how == "without last" else base[1:]
        ends = base or (1,)
        return {
            "vector": (fresh,),
            "matrix": (fresh, draw.integer(1, 3)),
            "any, last": (fresh, ends[-1]),
            "first, any": (ends[0], fresh),
            "last, any": (ends[-1], fresh),
        }[how]


def _product(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count
