"""Order the overloads of an operator so that PyTorch calls the one that the arguments are for.

In eager mode, PyTorch tries overloads in the order of registration, and converts arguments: a tensor with one element to
a number, a number to a bool, None to an undefined tensor. In compiled code the same tensor is no number, so another
overload may be called. Source: `toIValue` of PyTorch 2.13, by trial of each type with each value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from opgen.model.function_schema import Argument, FunctionSchema
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

# Values of Python, by which types differ.
_ONE, _TENSOR, _TENSORS = "a tensor with one element", "a tensor", "[tensor, ...]"
_BOOL, _INT, _FLOAT, _COMPLEX = "True", "1", "1.5", "1j"
_BOOLS, _INTS, _FLOATS, _COMPLEXES = "[True]", "[1]", "[1.5]", "[1j]"
_DTYPE, _LAYOUT, _FORMAT = "torch.float", "torch.strided", "torch.preserve_format"
_STR, _STRS, _DEVICE, _NONE, _NONES, _EMPTY = "'cpu'", "['cpu']", "a device", "None", "[None]", "[]"


class Values(Struct, frozen=True):
    """The values that a type is `own`, and others that PyTorch converts to it."""

    own: frozenset[str]
    converted: frozenset[str] = frozenset()


def _values(own: Sequence[str], *converted: str) -> Values:
    return Values(frozenset(own), frozenset(converted))


_OF_BASE = {
    BaseTy.Tensor: _values((_ONE, _TENSOR), _NONE),
    BaseTy.bool: _values((_BOOL,), _ONE, _INT, _FLOAT, _COMPLEX, _NONE),
    BaseTy.int: _values((_INT,), _ONE, _BOOL, _DTYPE, _LAYOUT, _FORMAT),
    BaseTy.SymInt: _values((_INT,), _ONE, _BOOL),
    BaseTy.float: _values((_FLOAT,), _ONE, _BOOL, _INT),
    BaseTy.complex: _values((_COMPLEX,), _ONE, _BOOL, _INT, _FLOAT),
    BaseTy.Scalar: _values((_INT, _FLOAT, _COMPLEX), _BOOL, _DTYPE, _LAYOUT),
    BaseTy.ScalarType: _values((_DTYPE,), _ONE, _BOOL, _INT),
    BaseTy.Layout: _values((_LAYOUT,), _ONE, _BOOL, _INT),
    BaseTy.MemoryFormat: _values((_FORMAT,), _ONE, _BOOL, _INT),
    BaseTy.str: _values((_STR,)),
    BaseTy.Device: _values((_DEVICE,), _STR),
}
_OF_LIST = {
    BaseTy.Tensor: _values((_TENSORS,)),
    BaseTy.bool: _values((_BOOLS,), _INTS, _FLOATS, _COMPLEXES, _TENSORS, _NONES),
    BaseTy.int: _values((_INTS,), _BOOLS, _TENSORS),
    BaseTy.SymInt: _values((_INTS,), _BOOLS, _TENSORS, _TENSOR),
    BaseTy.float: _values((_FLOATS,), _INTS, _BOOLS, _TENSORS),
    BaseTy.complex: _values((_COMPLEXES,), _INTS, _BOOLS, _FLOATS, _TENSORS),
    BaseTy.Scalar: _values((_INTS, _FLOATS, _COMPLEXES), _BOOLS),
    BaseTy.str: _values((_STRS,), _STR),
}
# One number stands for a list of a fixed length.
_ONE_FOR_ALL = {
    BaseTy.int: frozenset({_INT, _BOOL}),
    BaseTy.float: frozenset({_FLOAT}),
}
_ANY = Values(
    frozenset(),
    frozenset().union(*(v.own for v in (*_OF_BASE.values(), *_OF_LIST.values()))),
)


class TakenCall(Struct, frozen=True):
    """Arguments that are for one overload, and that PyTorch also converts for another: `values`, of which some are
    `converted`."""

    values: tuple[str, ...]
    converted: frozenset[str]


def by_overloads(functions: Iterable[NativeFunction]) -> dict[str, list[NativeFunction]]:
    """Group the functions of one namespace by the names of their operators, without those of overloads."""
    found: dict[str, list[NativeFunction]] = {}
    for f in functions:
        found.setdefault(str(f.func.name.name), []).append(f)
    return found


def in_order_of_registration(functions: Iterable[NativeFunction]) -> list[NativeFunction]:
    """Return the functions of one namespace; the overloads of an operator change places so that none takes the calls of
    a later one.

    If no order of an operator has this property, at least tensors are not taken for numbers where that is possible.
    """
    functions = list(functions)
    ordered = {name: iter(_in_order(some)) for name, some in by_overloads(functions).items()}
    return [next(ordered[str(f.func.name.name)]) for f in functions]


def _in_order(overloads: Sequence[NativeFunction]) -> list[NativeFunction]:
    before = {
        id(f): {id(g) for g in overloads if f is not g and _goes_after(f.func, g.func)}
        for f in overloads
    }
    waiting, found = list(overloads), []
    while waiting:
        left = {id(f) for f in waiting}
        # In a circle, the first entry is the first.
        chosen = next((f for f in waiting if not before[id(f)] & left), waiting[0])
        waiting.remove(chosen)
        found.append(chosen)
    return found


def _goes_after(one: FunctionSchema, other: FunctionSchema) -> bool:
    """Return whether `one` has to be tried after `other`, whose calls it would take."""
    taken, given = list(taken_calls(one, other)), list(taken_calls(other, one))
    of_tensors, given_tensors = (
        any({_ONE, _TENSOR, _TENSORS} & call.converted for call in calls)
        for calls in (taken, given)
    )
    if of_tensors != given_tensors:
        return of_tensors
    return bool(taken) and not given


def taken_calls(one: FunctionSchema, other: FunctionSchema) -> Iterator[TakenCall]:
    """Yield calls that are for the overload `other`, and that PyTorch also converts for `one`, if it tries `one` first.

    There is at most one for each number of positional arguments.
    """
    ours, theirs = one.arguments.flat_positional, other.arguments.flat_positional
    least = max(sum(a.default is None for a in some) for some in (ours, theirs))
    names = [
        {a.name: a for a in (*f.arguments.flat_kwarg_only, *f.arguments.out)} for f in (one, other)
    ]
    needed = {a.name for own in names for a in own.values() if a.default is None}
    if not all(needed <= own.keys() for own in names):
        return
    keywords = [(names[0][name], names[1][name]) for name in sorted(needed)]
    for count in range(least, min(len(ours), len(theirs)) + 1):
        call = _taken([*zip(ours[:count], theirs[:count]), *keywords])
        if call is not None:
            yield call


def _taken(pairs: Sequence[tuple[Argument, Argument]]) -> TakenCall | None:
    values, converted = [], set()
    for one, other in pairs:
        taking, given = values_of(one.type), values_of(other.type)
        wrong = taking.converted & given.own
        both = wrong or taking.own & given.own
        if not both:
            return None
        values.append(min(both))
        converted |= {min(wrong)} if wrong else set()
    return TakenCall(tuple(values), frozenset(converted)) if converted else None


def values_of(type: Type) -> Values:
    """Return the values that PyTorch accepts for a type."""
    match type:
        case OptionalType(elem):
            inner = values_of(elem)
            return Values(inner.own | {_NONE}, inner.converted - {_NONE})
        case ListType(OptionalType(BaseType(BaseTy.Tensor))):
            return _values((_TENSORS, _NONES, _EMPTY), _TENSOR)
        case ListType(BaseType(name), size) if name in _OF_LIST:
            inner = _OF_LIST[name]
            one = frozenset() if size is None else _ONE_FOR_ALL.get(name, frozenset())
            return Values(inner.own | {_EMPTY}, inner.converted | one)
        case BaseType(BaseTy.Any):
            return _ANY
        case BaseType(name) if name in _OF_BASE:
            return _OF_BASE[name]
        case _:
            return _values((str(type),))
