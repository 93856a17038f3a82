"""Schema types and defaults as the interpreter of saved programs distinguishes them.

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


# The kind of a value, and the value. Numbers of different kinds are different.
Scalar: TypeAlias = tuple[str, str | int | float | bool | None]
DefaultValue: TypeAlias = Scalar | tuple[Scalar, ...]

_WORDS: dict[str, Scalar] = {
    "None": ("none", None),
    "True": ("bool", True),
    "False": ("bool", False),
    # Enumerators that schemas can name, as their numbers.
    "Mean": ("int", 1),
    "contiguous_format": ("int", 0),
    "strided": ("int", 0),
    "long": ("int", 4),
    "float": ("int", 6),
    "complex": ("int", 9),
}


def default_value(default: str, type: Type) -> DefaultValue:
    """Evaluate the default of an argument of this type. A single value for a list with a size is repeated."""
    plain = interpreter_type(type)
    if default.startswith("[") and default.endswith("]"):
        elem = plain.elem if isinstance(plain, ListOf) else plain
        items = (item.strip() for item in default[1:-1].split(","))
        return tuple(_scalar(item, elem) for item in items if item)
    if isinstance(plain, ListOf):
        return (_scalar(default, plain.elem),) * (list_size(type) or 1)
    return _scalar(default, plain)


def is_list(value: DefaultValue) -> bool:
    """Return whether a default is a list."""
    return value == () or isinstance(value[0], tuple)


def _scalar(text: str, type: InterpreterType) -> Scalar:
    if text[:1] in ("'", '"'):
        return ("str", _unquoted(text))
    if text in _WORDS:
        return _WORDS[text]
    try:
        is_int = type != FLOAT and not set(text) & set(".e")
        return ("int", int(text)) if is_int else ("float", float(text))
    except ValueError:
        return ("word", text)


def _unquoted(text: str) -> str:
    """Return the characters of a string literal, so that single and double quotes are equal."""
    quote = text[0]
    return text[1:-1].replace(f"\\{quote}", quote)
