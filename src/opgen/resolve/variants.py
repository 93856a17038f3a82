"""Sort operators into sets of variants, which differ only in how they return their results, and form groups of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from opgen.model.function_schema import FunctionSchema, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup

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


def find_group(variants: Variants) -> NativeFunctionsGroup | None:
    """Return the group of `variants`; None for an operator without an out variant."""
    functional = variants.find(SchemaKind.functional)
    out = variants.find(SchemaKind.out)
    if functional is None or out is None:
        return None
    return NativeFunctionsGroup(
        functional=functional,
        out=out,
        inplace=variants.find(SchemaKind.inplace),
        mutable=variants.find(SchemaKind.mutable),
    )


def find_outless_group(variants: Variants) -> OutlessGroup | None:
    """Return the group of `variants` if the functional one is structured and there is no out variant; else None."""
    functional = variants.find(SchemaKind.functional)
    if functional is None or not functional.structured or variants.find(SchemaKind.out) is not None:
        return None
    return OutlessGroup(functional, variants.find(SchemaKind.inplace))


def with_documentation(functions: tuple[NativeFunction, ...]) -> tuple[NativeFunction, ...]:
    """Give each out variant without documentation that of its functional variant.

    An empty text, by which an entry suppresses its documentation, becomes None.
    """
    if all(f.doc is None for f in functions):
        return functions
    return tuple(_documented(functions))


def _documented(functions: tuple[NativeFunction, ...]) -> Iterator[NativeFunction]:
    known = {
        (f.namespace, f.func.signature()): f.doc
        for f in functions
        if f.doc and f.func.kind() is SchemaKind.functional
    }
    for f in functions:
        if f.doc is None and f.func.is_out_fn():
            doc = known.get((f.namespace, f.func.signature()))
            yield f if doc is None else replace(f, doc=doc)
        else:
            yield f if f.doc or f.doc is None else replace(f, doc=None)
