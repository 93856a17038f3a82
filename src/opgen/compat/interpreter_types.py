"""Schema types as the interpreter of saved programs tells them apart, and which of them take which.

There an enumeration is its number, and a symbolic size is an int. A list is a list of exactly its
element type. Source: `torch.FunctionSchema`, whose verdicts are the same (tests/parity/test_compat.py).
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from opgen.dataclasses import dataclass
from opgen.model.types import (
    BaseTy,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from opgen.model.types import BaseType as SchemaBaseType


@dataclass(frozen=True, slots=True)
class Plain:
    """`int`, `float`, `number`, `Tensor` and all else that is neither a list nor optional."""

    name: str


@dataclass(frozen=True, slots=True)
class ListOf:
    elem: InterpreterType


@dataclass(frozen=True, slots=True)
class OptionalOf:
    elem: InterpreterType


@dataclass(frozen=True, slots=True)
class DictOf:
    key: InterpreterType
    value: InterpreterType


@dataclass(frozen=True, slots=True)
class TupleOf:
    elems: tuple[InterpreterType, ...]


InterpreterType: TypeAlias = Plain | ListOf | OptionalOf | DictOf | TupleOf

ANY = Plain("Any")
INT = Plain("int")
FLOAT = Plain("float")
COMPLEX = Plain("complex")
NUMBER = Plain("number")

_KNOWN_AS = {
    BaseTy.SymInt: INT,
    BaseTy.ScalarType: INT,
    BaseTy.Layout: INT,
    BaseTy.MemoryFormat: INT,
    BaseTy.DeviceIndex: INT,
    BaseTy.ConstQuantizerPtr: INT,
    BaseTy.Scalar: NUMBER,
}


@cache
def interpreter_type(type: Type) -> InterpreterType:
    match type:
        case SchemaBaseType(name):
            return _KNOWN_AS.get(name, Plain(name.name))
        case CustomClassType():
            return Plain(str(type))
        case DictType(key, value):
            return DictOf(interpreter_type(key), interpreter_type(value))
        case TupleType(elems):
            return TupleOf(tuple(map(interpreter_type, elems)))
        case ListType(elem):
            return ListOf(interpreter_type(elem))
        case OptionalType(elem):
            inner = interpreter_type(elem)
            # Any may be missing, too.
            return inner if isinstance(inner, OptionalOf) or inner == ANY else OptionalOf(inner)


def list_size(type: Type) -> int | None:
    """The size that a list is declared with; part of an argument, not of its type."""
    found = type.is_list_like()
    return None if found is None else found.size


def is_accepted(given: InterpreterType, wanted: InterpreterType) -> bool:
    """Whether every value of type `given` can be passed where `wanted` is declared."""
    if given == wanted or wanted == ANY:
        return True
    match given, wanted:
        case OptionalOf(inner), OptionalOf():
            return is_accepted(inner, wanted)
        case _, OptionalOf(inner):
            return is_accepted(given, inner)
        case TupleOf(some), TupleOf(others):
            return len(some) == len(others) and all(map(is_accepted, some, others))
        case Plain(), Plain():
            return wanted == NUMBER and given in (INT, FLOAT, COMPLEX)
        case _:
            return False
