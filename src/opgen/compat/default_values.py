"""Evaluate defaults, so that two spellings of the same value are equal."""

from __future__ import annotations

from typing import TypeAlias

from opgen.compat.interpreter_types import (
    FLOAT,
    InterpreterType,
    ListOf,
    interpreter_type,
    list_size,
)
from opgen.model.types import Type

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
