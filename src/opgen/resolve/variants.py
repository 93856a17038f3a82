"""Sort operators into sets of variants, which differ only in how they return their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from opgen.model.function_schema import FunctionSchema, SchemaKind
from opgen.model.native_function import NativeFunction

Role = TypeVar("Role", bound=Hashable)


class Variants(Struct, frozen=True):
    """The operators of one signature by kind, in order of appearance.

    `duplicates` are those whose kind was taken already.
    """

    by_kind: Mapping[SchemaKind, NativeFunction]
    duplicates: tuple[NativeFunction, ...] = ()

    @property
    def members(self) -> tuple[NativeFunction, ...]:
        return tuple(self.by_kind.values())

    def find(self, kind: SchemaKind) -> NativeFunction | None:
        return self.by_kind.get(kind)

    def with_member(self, function: NativeFunction) -> Variants:
        """Return the set with one more member, of a new kind."""
        return replace(self, by_kind={**self.by_kind, function.func.kind(): function})


def collect_variants(functions: Iterable[NativeFunction]) -> tuple[Variants, ...]:
    """Return one set for each signature, in order of first appearance."""

    def name(f: NativeFunction) -> Hashable:
        return f.scoped_root

    sets = group_by_signature(functions, name, lambda f: f.signature)
    return tuple(Variants(*split_by_role(s, lambda f: f.func.kind())) for s in sets)


def group_by_signature(
    functions: Iterable[NativeFunction],
    name: Callable[[NativeFunction], Hashable],
    signature: Callable[[NativeFunction], FunctionSchema],
) -> tuple[tuple[NativeFunction, ...], ...]:
    """Return the functions of each signature, in order of its first appearance.

    Functions of different `name` have different signatures. Most are alone with their name, and
    only the others' signatures are made and compared: that takes a quarter of the time.
    """
    functions = tuple(functions)
    count = Counter(map(name, functions))
    sets: list[list[NativeFunction]] = []
    places: dict[tuple[Hashable, FunctionSchema], int] = {}
    for f in functions:
        if count[name(f)] == 1:
            sets.append([f])
            continue
        place = places.setdefault((name(f), signature(f)), len(sets))
        if place == len(sets):
            sets.append([])
        sets[place].append(f)
    return tuple(map(tuple, sets))


def split_by_role(
    functions: Iterable[NativeFunction], role: Callable[[NativeFunction], Role]
) -> tuple[Mapping[Role, NativeFunction], tuple[NativeFunction, ...]]:
    """Return the first function of each role, and all others."""
    first: dict[Role, NativeFunction] = {}
    others = tuple(f for f in functions if first.setdefault(role(f), f) is not f)
    return first, others
