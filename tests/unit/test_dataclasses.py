"""Our dataclasses beside Python's own: the same class made by both, and asked the same."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import pytest

from opgen import dataclasses as ours
from opgen.dataclasses import field_names

T = TypeVar("T")
Make = Callable[..., Callable[[Any], Any]]


def classes(module: Any) -> tuple[Any, ...]:
    """Point, Named (of Point), Counted (mutable), Alone (compared by identity), with and without slots."""
    dataclass, field = module.dataclass, module.field

    @dataclass(frozen=True, slots=True)
    class Point(Generic[T]):
        x: T
        y: T
        seen: str = field(default="", repr=False, compare=False)

        @property
        def sum(self) -> T:
            return self.x + self.y  # type: ignore[operator, no-any-return]

    @dataclass(frozen=True, slots=True)
    class Named(Point[int]):
        name: str = "?"
        marks: list[str] = field(default_factory=list, compare=False, kw_only=True)
        label: str = field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "label", f"{self.name}!")

        def __str__(self) -> str:
            return self.name

    @dataclass(slots=True)
    class Counted:
        count: int = 0
        all: list[int] = field(default_factory=list)
        made: list[int] = field(default_factory=lambda: [7], init=False)

    @dataclass(frozen=True, slots=True, eq=False)
    class Alone:
        only: int

    @dataclass(frozen=True)
    class Open:
        one: int

        @cached_property
        def twice(self) -> int:
            return 2 * self.one

    @dataclass(frozen=True, slots=True)
    class Hashed:
        one: int

        def __hash__(self) -> int:
            return 5

    return Point, Named, Counted, Alone, Open, Hashed


def told(module: Any) -> list[Any]:
    """What can be asked of the classes and of their values, but for what is frozen."""
    point, named, counted, alone, opened, hashed = classes(module)
    a, b, c = point(1, 2), point(x=1, y=2, seen="once"), point(2, 1)
    n = named(1, 2, "", "n", marks=["m"])
    changed = module.replace(n, name="other", x=9)
    first, second = counted(), counted(3, [1])
    second.count += 1
    first.all.append(8)
    match n:
        case named(x, y, seen, name):
            matched = [x, y, seen, name]
    return [
        *(repr(value) for value in (a, b, n, changed, first, second, opened(2), hashed(3))),
        *(a == b, a != c, a == n, hash(a) == hash(b), len({a, b, c}), a == (1, 2)),
        *(n.label, changed.label, str(changed), n.marks is changed.marks, a.sum, matched),
        *(counted.__hash__, counted().all, counted() == counted(), first.made is second.made),
        *(alone(1) == alone(1), len({alone(1), alone(1)}), opened(4).twice, hash(hashed(1))),
        *(hashed(1) == hashed(1), copy.copy(n) == n, copy.deepcopy(n).marks is n.marks),
        *(hasattr(value, "__dict__") for value in (a, n, first, alone(1), opened(1))),
        *(cls.__match_args__ for cls in (point, named, counted, alone, opened)),
        *(cls.__qualname__.rpartition(".")[2] for cls in (point, named)),
        *(cls.__init__.__qualname__.rpartition(".")[2] for cls in (point, named)),
    ]


def test_they_say_what_pythons_own_say() -> None:
    assert told(ours) == told(dataclasses)


@pytest.mark.parametrize("module", [ours, dataclasses], ids=["ours", "Python's"])
def test_wrong_arguments_are_refused_by_name(module: Any) -> None:
    point, named, *_ = classes(module)
    for make in (lambda: point(1), lambda: named(1, 2, "", "n", ["m"]), lambda: point(1, 2, z=3)):
        # The first call of a class writes the method, the second finds it.
        for _ in range(2):
            with pytest.raises(TypeError, match=r"(Point|Named)\.__init__\(\) (missing|takes|got)"):
                make()


def test_the_names_of_fields() -> None:
    _, named, *_ = classes(ours)
    names = ("x", "y", "seen", "name", "marks", "label")
    assert field_names(named) == field_names(named(1, 2)) == names
    assert field_names(names) == ()


@ours.dataclass(frozen=True, slots=True)
class Sent:
    text: str


def test_values_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Sent("a"))) == Sent("a")


def test_a_hash_does_not_outlive_its_process() -> None:
    """Python's hashes of strings differ from one process to the next, and some values keep theirs."""
    program = """
import pickle, sys
from opgen.model.function_schema import Argument
from opgen.model.types import BaseTy, BaseType
mine = Argument("x", BaseType(BaseTy.Tensor), None, None)
if sys.argv[1:]:
    theirs = pickle.loads(bytes.fromhex(sys.argv[1]))
    assert theirs == mine and hash(theirs) == hash(mine)
print(pickle.dumps(mine).hex())
"""
    sent = ()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", program, *sent]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        sent = (done.stdout.strip(),)


def test_pythons_functions_take_them() -> None:
    """For programs that use `import opgen`: type checkers tell them that these are Python's own."""

    def asked(module: Any) -> list[Any]:
        _, named, counted, *_ = classes(module)
        value = named(1, [2], "", "n", marks=["m"])
        facts = ("name", "type", "init", "repr", "compare", "kw_only")
        return [
            *([getattr(f, fact) for fact in facts] for f in dataclasses.fields(value)),
            *(f.default is dataclasses.MISSING for f in dataclasses.fields(named)),
            *(f.default_factory is dataclasses.MISSING for f in dataclasses.fields(named)),
            *(dataclasses.is_dataclass(x) for x in (value, named, counted, 1)),
            *(dataclasses.asdict(value), dataclasses.astuple(value)),
            repr(dataclasses.replace(value, name="other")),
        ]

    assert asked(ours) == asked(dataclasses)
