"""Draw the arguments of calls of one operator, and learn which plans it accepts; for gradients, with tensors of one dtype."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any, TypeAlias

from opgen.gradtest.backends import Tensors
from opgen.model.domains import EVERYTHING, Between, Domain, OneOf
from opgen.model.function_schema import Argument
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type


class Choices:
    """A source of choices: independent random ones."""

    def __init__(self, generator: random.Random) -> None:
        self._random = generator

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""
        return self._random.randint(low, high)

    def number(self, low: float, high: float) -> float:
        """Return a number from `low` to `high`."""
        return self._random.uniform(low, high)

    def choice(self, choices: Sequence[Any]) -> Any:
        """Return one of some values; the first ones are the simplest."""
        return self._random.choice(choices)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random.random() < probability


Plan: TypeAlias = dict[str, tuple[str, ...]]

RANKS = (0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4)
SHAPES = (
    *("full",) * 8,
    *("last",) * 3,
    *("first",) * 2,
    *("scalar",) * 2,
    *("ones",) * 2,
    *("without last", "without first"),
    *("vector", "vector", "matrix", "any, last", "first, any", "last, any"),
)


def shape_of(word: str, base: Sequence[int], choices: Choices) -> tuple[int, ...]:
    """Return the shape that a word of SHAPES stands for, if the other tensors have the shape `base`."""
    base = tuple(base)
    fresh = choices.integer(1, 4)
    if word in ("full", "scalar"):
        return base if word == "full" else ()
    if word == "ones":
        kept = [size if choices.chance(0.5) else 1 for size in base]
        return tuple(kept[choices.integer(0, len(kept)) :] if choices.chance(0.5) else kept)
    if word in ("last", "first"):
        return base[-1:] if word == "last" else base[:1]
    if word in ("without last", "without first"):
        return base[:-1] if word == "without last" else base[1:]
    ends = base or (1,)
    return {
        "vector": (fresh,),
        "matrix": (fresh, choices.integer(1, 3)),
        "any, last": (fresh, ends[-1]),
        "first, any": (ends[0], fresh),
        "last, any": (ends[-1], fresh),
    }[word]


class Undrawable(Exception):
    """No value of a type can be drawn: the author has to name some."""


class Making:
    """Makes the arguments of one call. `base` is the shape that most of its tensors have.

    Authors call its methods in the `make` of a Domain, and those of its choices, also `tensor` and `integers`.
    """

    base: tuple[int, ...]

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.integer, self.number = choices.integer, choices.number
        self.choice, self.chance = choices.choice, choices.chance

    def yes(self) -> bool:
        """Return True in half of the calls."""
        return self.chance(0.5)

    # What drawers call.

    def size(self, letter: str) -> int:
        """Return the size that a letter stands for in this call."""
        raise NotImplementedError

    def tensor_of(
        self, shape: tuple[int, ...], words: Sequence[str], values: Between | None
    ) -> Any:
        """Return a tensor. `words` are those of the plan after the shape: its dtype, and the kind of its elements."""
        raise NotImplementedError

    def other(self, type: BaseType, words: Sequence[str]) -> Any:
        """Return a value of a type that is neither a tensor nor a number."""
        raise NotImplementedError


_INTS = (BaseType(BaseTy.int), BaseType(BaseTy.SymInt))
_NUMBERS = (BaseType(BaseTy.float), BaseType(BaseTy.Scalar))
_DRAWABLE = (*(BaseTy.Tensor, BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.Scalar, BaseTy.bool),)
_TENSOR = BaseType(BaseTy.Tensor)
# How often an argument that has a default is left out, one that may be None is None, and a known plan is drawn again.
_DEFAULT, _NONE, _KNOWN = 0.3, 0.3, 0.8
_WANTED = 0.9
_OWN_LENGTH = 0.5


class Drawer:
    """Draws calls of one operator, by plans whose words are these; those that occur twice are drawn twice as often.

    `shapes` are words of SHAPES, and letters that stand for sizes: "a b". `wanted` are shapes of tensors by the names of
    arguments, which are drawn most of the time. `others` are the words of types that are neither tensors nor numbers; a type
    that is not there has only its default.
    """

    shapes: tuple[str, ...] = SHAPES
    wanted: Mapping[str, str] = MappingProxyType({})
    ints: tuple[str, ...] = ("small", "small", "dimension", "size", "negative")
    numbers: tuple[str, ...] = ("positive", "positive", "any")
    lists: tuple[str, ...] = ("sizes", "dimensions", "small", "small", "base")
    counts: tuple[int, ...] = (1, 2, 2, 3)
    others: Mapping[BaseTy, tuple[str, ...]] = MappingProxyType({})

    def __init__(
        self,
        arguments: Sequence[Argument],
        choices: Choices,
        domain: Domain = EVERYTHING,
        accepted: Sequence[Plan] = (),
    ) -> None:
        self.arguments = arguments
        self.choices = choices
        self.domain = domain
        self.accepted = list(accepted)
        # How often a plan that was accepted is drawn again, and how often one argument of it is then drawn anew.
        self.known = _KNOWN
        self.changed = 0.0
        # The length of the lists of a call; 0 if each has its own.
        self._length = 0
        self._has_lists = sum(a.type.is_list_like() is not None for a in arguments) > 1

    def begin(self, plan: Plan) -> Making:
        """Start a call by its plan, which is empty if it is a new one.

        The base has as many dimensions as the plan's words for "", if there are any.
        """
        raise NotImplementedError

    def tensor_words(self, argument: Argument) -> tuple[str, ...]:
        """Return the words of a tensor after its shape."""
        raise NotImplementedError

    def draw(self, *, only_known: bool = False) -> tuple[dict[str, Any], Plan]:
        """Return the arguments of a call by name, and the plan that they are made by."""
        known = self.accepted and (only_known or self.choices.chance(self.known))
        plan = dict(self.choices.choice(self.accepted)) if known else {}
        if known and not only_known and self.arguments and self.choices.chance(self.changed):
            plan.pop(self.choices.choice(self.arguments).name, None)
        making = self.begin(plan)
        plan[""] = ("size",) * len(making.base)
        self._length = 0
        if self._has_lists:
            # Lists of one call often have the same length, which is drawn anew each time.
            own = self.choices.chance(_OWN_LENGTH)
            if plan.setdefault("[]", ("own",) if own else ("same",)) == ("same",):
                self._length = self.choices.choice(self.counts)
        made: Mapping[str, Any] = {} if self.domain.make is None else self.domain.make(making)
        call: dict[str, Any] = {}
        for argument in self.arguments:
            name = argument.name
            if name in made:
                call[name] = made[name]
            elif isinstance(values := self.domain.arguments.get(name), OneOf):
                call[name] = self.choices.choice(values.choices)
            else:
                words = plan[name] if name in plan else self.plan_of(argument)
                plan[name] = words
                if words != ("default",):
                    call[name] = self._value(argument, argument.type, words, values, making)
        return call, plan

    def narrowings(self) -> tuple[str, ...]:
        """Return what is never drawn: of arguments of some types only the default, or None."""
        return tuple(
            f"{a.name}: {'None' if a.default is None else f'its default, {a.default}'}"
            for a in self.arguments
            if a.name not in self.domain.arguments
            and not self._is_drawable(a.type)
            and (a.default is not None or a.type.is_nullable())
        )

    # Plans.

    def plan_of(self, argument: Argument) -> tuple[str, ...]:
        """Return words for an argument."""
        drawable = self._is_drawable(argument.type)
        if argument.default is not None and (not drawable or self.choices.chance(_DEFAULT)):
            return ("default",)
        return self._plan_of_type(argument, argument.type)

    def given(self, argument: Argument) -> tuple[str, ...]:
        """Return words for an argument that may be left out or None, and is given; its default if none can be drawn."""
        type = argument.type
        while isinstance(type, OptionalType):
            type = type.elem
        if not self._is_drawable(type):
            return ("default",) if argument.default is not None else ("none",)
        return self._plan_of_type(argument, type)

    def _plan_of_type(self, argument: Argument, type: Type) -> tuple[str, ...]:
        choose = self.choices.choice
        if isinstance(type, OptionalType):
            if not self._is_drawable(type.elem) or self.choices.chance(_NONE):
                return ("none",)
            return self._plan_of_type(argument, type.elem)
        if isinstance(type, ListType):
            if type.is_tensor_like():
                count = str(type.size or choose(self.counts))
                return (count, *self._plan_of_tensor(argument))
            return (choose(self.lists),)
        if type == _TENSOR:
            return self._plan_of_tensor(argument)
        if type in _INTS:
            if "dim" in argument.name and "size" not in argument.name:
                return ("dimension",)
            return (choose(self.ints),)
        if type in _NUMBERS:
            return (choose(self.numbers),)
        if isinstance(type, BaseType) and type.name in self.others:
            return (choose(self.others[type.name]),)
        return ("value",)

    def _plan_of_tensor(self, argument: Argument) -> tuple[str, ...]:
        shape = self.wanted.get(argument.name)
        if shape is None or not self.choices.chance(_WANTED):
            shape = self.choices.choice(self.shapes)
        return (shape, *self.tensor_words(argument))

    def _is_drawable(self, type: Type) -> bool:
        return any(type.is_base_ty_like(base) for base in (*_DRAWABLE, *self.others))

    # Values.

    def _value(
        self,
        argument: Argument,
        type: Type,
        words: tuple[str, ...],
        values: Between | None,
        making: Making,
    ) -> Any:
        if words == ("none",):
            return None
        while isinstance(type, OptionalType):
            type = type.elem
        if isinstance(type, ListType):
            if type.is_tensor_like():
                # An optional tensor of a list is there: which ones are not follows from the operator.
                count = type.size or self._length or int(words[0])
                return [self._tensor(words[1:], values, making) for _ in range(count)]
            return self._list(argument, type, words[0], making)
        if type == _TENSOR:
            return self._tensor(words, values, making)
        if type in _INTS:
            return self._integer(words[0], values, making)
        if type in _NUMBERS:
            return self._number(words[0], values)
        if type == BaseType(BaseTy.bool):
            return self.choices.chance(0.5)
        if isinstance(type, BaseType) and type.name in self.others:
            return making.other(type, words)
        raise Undrawable(
            f"no value of type {type} is known for '{argument.name}': name some, "
            f"Domain({argument.name}=one_of(...))"
        )

    def _tensor(self, words: tuple[str, ...], values: Between | None, making: Making) -> Any:
        if words[0] in SHAPES:
            shape = shape_of(words[0], making.base, self.choices)
        else:
            shape = tuple(making.size(letter) for letter in words[0].split())
        return making.tensor_of(shape, words[1:], values)

    def _integer(self, word: str, values: Between | None, making: Making) -> int:
        rank, choices = max(1, len(making.base)), self.choices
        if values is not None:
            return choices.integer(int(values.low), int(values.high))
        if word == "dimension":
            return choices.integer(-rank, rank - 1)
        if word == "size":
            found: int = choices.choice(making.base or (1,))
            return found
        return -choices.integer(1, 3) if word == "negative" else choices.integer(0, 4)

    def _number(self, word: str, values: Between | None) -> float | int:
        if word == "integer" and values is None:
            return self.choices.integer(0, 3)
        between = values or (Between(0.25, 1.5) if word == "positive" else Between(-2, 2))
        return self.choices.number(between.low, between.high)

    def _list(self, argument: Argument, type: ListType, word: str, making: Making) -> list[Any]:
        choices = self.choices
        count = type.size or self._length or choices.integer(1, 3)
        if type.is_base_ty_like(BaseTy.bool):
            return [choices.chance(0.5) for _ in range(count)]
        if type.is_base_ty_like(BaseTy.float) or type.is_base_ty_like(BaseTy.Scalar):
            return [choices.number(0.25, 1.5) for _ in range(count)]
        if not (type.is_base_ty_like(BaseTy.int) or type.is_base_ty_like(BaseTy.SymInt)):
            raise Undrawable(f"no {type} is known: Domain({argument.name}=one_of(...))")
        if word == "base":
            return list(making.base)
        if word == "dimensions":
            places = list(range(len(making.base)))
            kept = []
            for _ in range(min(count, len(places))):
                kept.append(places.pop(choices.integer(0, len(places) - 1)))
            return kept
        return [choices.integer(1 if word == "sizes" else 0, 3) for _ in range(count)]


_MOST_ELEMENTS = 12
_LAYOUTS = ("dense", "dense", "transposed", "strided")
# Elements are multiples of this plus a little: distinct, and away from 0.
_STEP = 0.02
_SPAN = 2.0


class Draw(Making):
    """Draws the arguments of one call. All elements of all its tensors are distinct."""

    def __init__(
        self, tensors: Tensors, dtype: str, generator: random.Random, rank: int | None = None
    ) -> None:
        self._tensors = tensors
        self.dtype = dtype
        super().__init__(Choices(generator))
        self.random = generator
        self._used: set[int] = set()
        rank = generator.choice(RANKS) if rank is None else rank
        self.base: tuple[int, ...] = ()
        for _ in range(rank):
            most = max(1, min(4, _MOST_ELEMENTS // prod(self.base)))
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
        count = prod(shape)
        if chosen == "bool":
            return self._make([self.yes() for _ in range(count)], shape, chosen)
        among = Between(low, high) if values is None else values
        numbers: list[Any] = []
        for _ in range(count):
            real = self._real(among)
            is_complex = chosen.startswith("complex")
            numbers.append(complex(real, self._real(Between(-1, 1))) if is_complex else real)
        return self._make(numbers, shape, chosen)

    def integers(self, *shape: int, below: int, low: int = 0) -> Any:
        """Return a tensor of integers from `low` to `below` - 1: indices."""
        numbers = [self.random.randrange(low, below) for _ in range(prod(shape))]
        return self._make(numbers, shape, "int64")

    # What drawers call.

    def tensor_of(
        self, shape: tuple[int, ...], words: Sequence[str], values: Between | None
    ) -> Any:
        if words[0] == "int64":
            low, high = (0, 3) if values is None else (int(values.low), int(values.high) + 1)
            return self.integers(*shape, low=low, below=high)
        return self.tensor(*shape, dtype=words[0], values=values)

    # How the values are made.

    def _make(self, values: Sequence[Any], shape: Sequence[int], dtype: str) -> Any:
        return self._tensors.tensor(values, shape, dtype, self.random.choice(_LAYOUTS))

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


class GradientDrawer(Drawer):
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
        self.tensors = tensors
        self.dtype = dtype
        self.differentiable = frozenset(differentiable)
        super().__init__(arguments, Choices(self.random), domain)

    def tensor_words(self, argument: Argument) -> tuple[str, ...]:
        if argument.name not in self.differentiable:
            return (self.choices.choice((self.dtype, "int64", "int64", "bool")),)
        real = self.dtype.startswith("complex") and self.choices.chance(0.15)
        return ("float64" if real else self.dtype,)

    def begin(self, plan: Plan) -> Draw:
        return Draw(self.tensors, self.dtype, self.random, len(plan[""]) if "" in plan else None)
