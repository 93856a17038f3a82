"""Schema types as the interpreter of saved programs distinguishes them, and which of them accept values of others.

For the interpreter, an enumeration is an int, and so is a symbolic size. Element types of lists must be equal. Source:
`torch.FunctionSchema`, whose verdicts are the same (tests/differential/parity/test_compat.py).
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from msgspec import Struct

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


class Plain(Struct, frozen=True):
    """A type without elements, such as `int`, `float`, `number` and `Tensor`."""

    name: str


class ListOf(Struct, frozen=True):
    elem: InterpreterType


class OptionalOf(Struct, frozen=True):
    elem: InterpreterType


class DictOf(Struct, frozen=True):
    key: InterpreterType
    value: InterpreterType


class TupleOf(Struct, frozen=True):
    elems: tuple[InterpreterType, ...]


InterpreterType: TypeAlias = Plain | ListOf | OptionalOf | DictOf | TupleOf

ANY = Plain("Any")
INT = Plain("int")
FLOAT = Plain("float")
COMPLEX = Plain("complex")
NUMBER = Plain("number")

_NAMES = {
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
    """Return the interpreter's type for a schema type."""
    match type:
        case SchemaBaseType(name):
            return _NAMES.get(name, Plain(name.name))
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
            # Any includes None.
            return inner if isinstance(inner, OptionalOf) or inner == ANY else OptionalOf(inner)


def list_size(type: Type) -> int | None:
    """Return the declared size of a list; None if there is none. Interpreter types have no size."""
    list_type = type.is_list_like()
    return None if list_type is None else list_type.size


def is_accepted(actual: InterpreterType, declared: InterpreterType) -> bool:
    """Return whether each value of type `actual` can be passed as one of type `declared`."""
    if actual == declared or declared == ANY:
        return True
    match actual, declared:
        case OptionalOf(inner), OptionalOf():
            return is_accepted(inner, declared)
        case _, OptionalOf(inner):
            return is_accepted(actual, inner)
        case TupleOf(elems), TupleOf(declared_elems):
            same_size = len(elems) == len(declared_elems)
            return same_size and all(map(is_accepted, elems, declared_elems))
        case Plain(), Plain():
            return declared == NUMBER and actual in (INT, FLOAT, COMPLEX)
        case _:
            return False
