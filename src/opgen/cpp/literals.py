"""Default values as the schema writes them into C++ expressions."""

from __future__ import annotations

from opgen.cpp.spelling import TypeSpelling
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type


class BadDefault(Exception):
    """A default that its type cannot have; the message says why."""


def default_expression(default: str, type: Type, spelling: TypeSpelling, *, symint: bool) -> str:
    """The C++ text of a default. Raises BadDefault for a bare value of a list without a size."""
    if default == "None" and str(type) == "Tensor?":
        return "{}"
    match type:
        case BaseType(BaseTy.str):
            return _string(default)
        case OptionalType(elem):
            if default != "None":
                return default_expression(default, elem, spelling, symint=symint)
        case ListType(elem, size):
            if default.startswith("[") and default.endswith("]"):
                return "{" + _elements(default[1:-1], spelling) + "}"
            if symint and default.isdigit() and str(elem) == "SymInt":
                return spelling.symint_default.format(default)
            if size is None:
                raise BadDefault(
                    f"the default of a list without a size is written in brackets: [{default}]"
                )
        case _:
            pass
    return spelling.defaults.get(default, default)


def _elements(text: str, spelling: TypeSpelling) -> str:
    """The elements of a list, of which only the words for bools are different in C++."""
    return ",".join(spelling.defaults.get(element, element) for element in text.split(","))


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
