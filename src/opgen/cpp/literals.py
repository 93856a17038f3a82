"""Default values as the schema writes them into C++ expressions."""

from __future__ import annotations

import math
import re

from opgen import data
from opgen.cpp.spelling import TypeSpelling
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

_INT = r"[+-]?[0-9]+"
# C++ reads a number that begins with 0 as an octal one, and has no larger one for this type.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,18})")
_LARGEST = 2**63 - 1
# One literal, whatever stands in it, of escapes that mean the same in C++ and in Python.
_TEXT = r"""\"(?:[^"\\]|\\["'\\abfnrtv])*\"|'(?:[^'\\]|\\["'\\abfnrtv])*'"""
_FLOAT = rf"{_INT}(\.[0-9]*)?([eE]{_INT})?|[+-]?\.[0-9]+([eE]{_INT})?"
_ANY_INT, _ANY_FLOAT = re.compile(_INT), re.compile(_FLOAT)
_BOOL = "True|False"
_NUMBERS = (re.compile(f"{_INT}|Mean"), "a whole number")
# Words for element types, and the enumerators or numbers that they stand for.
_DTYPES = {row[0]: row[1] for row in data.read_rows("dtype_words.txt")}
_IMAGINARY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)j")

# What a default of each type looks like, and in words. Types that are not here have none but None.
_PLAIN = {
    BaseTy.int: _NUMBERS,
    BaseTy.SymInt: _NUMBERS,
    BaseTy.DeviceIndex: _NUMBERS,
    BaseTy.float: (re.compile(_FLOAT), "a number"),
    BaseTy.Scalar: (re.compile(f"{_FLOAT}|{_BOOL}"), "a number, True or False"),
    BaseTy.complex: (_IMAGINARY, "an imaginary number, as in '1j'"),
    BaseTy.bool: (re.compile(_BOOL), "True or False"),
    BaseTy.SymBool: (re.compile(_BOOL), "True or False"),
    BaseTy.str: (re.compile(_TEXT), "a text in quotes"),
    BaseTy.ScalarType: (
        re.compile("|".join((*_DTYPES, "[0-9]+"))),
        "a dtype, as in 'float' or 'int64'",
    ),
    BaseTy.Layout: (re.compile("strided|[0-9]+"), "strided"),
    BaseTy.MemoryFormat: (re.compile("contiguous_format|[0-9]+"), "contiguous_format"),
    BaseTy.Device: (re.compile(_TEXT), "a text in quotes, as in 'cpu'"),
}


class BadDefault(Exception):
    """A default that its type cannot have; the message says why."""


def find_misfit(default: str, type: Type) -> str | None:
    """What a default of `type` has to be, if `default` is something else; None if it fits."""
    match type:
        case OptionalType(elem):
            if default == "None":
                return None
            found = find_misfit(default, elem)
            plain = isinstance(elem, BaseType) and elem.name not in _PLAIN
            return f"'{type}' takes None" if found is not None and plain else found
        case ListType(elem, size):
            return _find_misfit_in_list(default, elem, size)
        case BaseType(base) if base in _PLAIN:
            pattern, words = _PLAIN[base]
            if not pattern.fullmatch(default):
                return f"'{type}' takes {words}"
            return _find_strange_number(default)
        case BaseType(BaseTy.Tensor):
            return "a Tensor has no default: write 'Tensor? x=None'"
        case _:
            return f"'{type}' has no default"


def _find_strange_number(default: str) -> str | None:
    """What is wrong with a number that C++ would take for another one, or not at all."""
    if _ANY_INT.fullmatch(default):
        if not _WHOLE.fullmatch(default):
            return "a whole number has no leading zeros, and at most 19 digits"
        return None if abs(int(default)) <= _LARGEST else f"a whole number is at most {_LARGEST}"
    if _ANY_FLOAT.fullmatch(default) and math.isinf(float(default)):
        return "a number is at most 1.79e308"
    return None


# What torchgen makes C++ of, where PyTorch's parser takes more.
_OF_TORCHGEN = {
    BaseTy.ScalarType: ("long",),
    BaseTy.Layout: ("strided",),
    BaseTy.MemoryFormat: ("contiguous_format",),
    BaseTy.Device: (),
    BaseTy.complex: (),
}


def find_misfit_to_torchgen(default: str, type: Type) -> str | None:
    """What to write instead of `default`, which fits `type`; None if torchgen makes C++ of it."""
    match type:
        case OptionalType(elem):
            return None if default == "None" else find_misfit_to_torchgen(default, elem)
        case BaseType(base) if base in _OF_TORCHGEN and default not in _OF_TORCHGEN[base]:
            taken = _OF_TORCHGEN[base]
            return f"'{type}' takes {taken[0]}" if taken else f"'{type}' has no default"
        case _:
            return None


def _find_misfit_in_list(default: str, elem: Type, size: int | None) -> str | None:
    if not (default.startswith("[") and default.endswith("]")):
        if size is None:
            return f"the default of a list without a size is written in brackets: [{default}]"
        if str(elem) == "bool":
            return "an array of bool takes all of its elements, in brackets"
        return find_misfit(default, elem)
    items = default[1:-1].split(",") if default != "[]" else []
    return next((found for item in items if (found := find_misfit(item, elem))), None)


def default_expression(default: str, type: Type, spelling: TypeSpelling, *, symint: bool) -> str:
    """The C++ text of a default. Raises BadDefault for a bare value of a list without a size."""
    if default == "None" and str(type) in ("Tensor?", "Tensor"):
        return "{}"
    match type:
        case BaseType(BaseTy.str):
            return _string(default)
        case BaseType(BaseTy.ScalarType) if default != "long":
            return _enumerator("ScalarType", _DTYPES.get(default, default), spelling)
        case BaseType(BaseTy.Layout):
            name = "Strided" if default == "strided" else default
            return _enumerator("Layout", name, spelling)
        case BaseType(BaseTy.MemoryFormat) if default.isdigit():
            return _enumerator("MemoryFormat", default, spelling)
        case BaseType(BaseTy.Device):
            return f"{spelling.prefix}Device({_string(default)})"
        case BaseType(BaseTy.complex):
            return f"{spelling.names['complex']}(0, {default[:-1]})"
        case OptionalType(elem):
            if default != "None":
                return default_expression(default, elem, spelling, symint=symint)
        case ListType(elem, size):
            if default.startswith("[") and default.endswith("]"):
                return "{" + _elements(default[1:-1], elem, spelling) + "}"
            if symint and default.isdigit() and str(elem) == "SymInt":
                return spelling.symint_default.format(default)
            if size is None:
                raise BadDefault(
                    f"the default of a list without a size is written in brackets: [{default}]"
                )
        case _:
            pass
    return spelling.defaults.get(default, default)


def _enumerator(enum: str, name: str, spelling: TypeSpelling) -> str:
    """An enumerator, which may be given by its number."""
    if name.isdigit():
        return f"static_cast<{spelling.prefix}{enum}>({name})"
    return f"{spelling.prefix}{enum}::{name}"


def _elements(text: str, elem: Type, spelling: TypeSpelling) -> str:
    """The elements of a list, of which the words for bools and quotes are different in C++."""
    if not text:
        return ""
    return ",".join(
        default_expression(element.strip(), elem, spelling, symint=False)
        for element in text.split(",")
    )


def _string(default: str) -> str:
    """A string literal of the schema (either quote) as one of C++ (double quotes)."""
    if not default.startswith("'"):
        return default
    text, out, i = default[1:-1], [], 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            out.append("'" if text[i + 1] == "'" else text[i : i + 2])
            i += 2
            continue
        out.append('\\"' if text[i] == '"' else text[i])
        i += 1
    return '"' + "".join(out) + '"'
