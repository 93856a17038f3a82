"""Translate the defaults of a schema for Python signatures. Their C++ expressions are the starting point."""

from __future__ import annotations

from opgen.cpp.literals import BadDefault, default_expression
from opgen.cpp.spelling import TypeSpelling
from opgen.model.types import BaseTy, BaseType, ListType, Type
from opgen.python.python_types import NoPythonSignature
from opgen.python.spelling import PythonSpelling

_WORDS = {"true": "True", "false": "False"}


def python_default(default: str, type: Type, spelling: TypeSpelling) -> str:
    """Return the C++ expression of a default with Python's words and numbers. Raises NoPythonSignature."""
    try:
        text = default_expression(default, type, spelling, symint=False)
    except BadDefault as problem:
        raise NoPythonSignature(str(problem)) from problem
    if text.startswith("{"):
        words = [word.strip() for word in text[1:-1].split(",")]
        return "{" + ",".join(_WORDS.get(word, word) for word in words) + "}"
    return _WORDS.get(text) or _number(text) or text


def _number(text: str) -> str | None:
    """Return a number as Python prints it; None if `text` is not a number."""
    try:
        return str(int(text))
    except ValueError:
        pass
    try:
        return str(float(text))
    except ValueError:
        return None


def parser_default(default: str, spelling: TypeSpelling) -> str:
    """Return a default as the argument parser reads it."""
    return "None" if is_none(default, spelling) else default


def stub_default(default: str, type: Type, cpp: TypeSpelling, spelling: PythonSpelling) -> str:
    """Return a default as a stub writes it: lists of ints become tuples."""
    if isinstance(type, ListType) and type.elem == BaseType(BaseTy.int) and default[:1] == "{":
        return "(" + ", ".join(part.strip() for part in default[1:-1].split(",")) + ")"
    if is_none(default, cpp):
        return "None"
    return dict(spelling.stub_defaults).get(default, default)


def is_none(default: str, spelling: TypeSpelling) -> bool:
    """Return whether the C++ expression of a default stands for None."""
    return default in ("{}", "nullptr", "None", spelling.defaults["None"])
