"""Say how a schema spells a default that is written as in C++ or Python."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opgen.cpp.literals import DTYPE_WORDS, find_misfit
from opgen.diagnostics.suggestions import meant
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

_NOTHING = frozenset(("nullptr", "null", "NULL", "nil", "std::nullopt", "nullopt", "{}", "none"))
_TRUTH = {"true": "True", "false": "False", "TRUE": "True", "FALSE": "False"}
_SUFFIXED = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFlLuU]+")
_DTYPE = re.compile(r"(?:torch\.|np\.|at::k?|c10::k?|k)(\w+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CURLY = re.compile(r"[{(](.*)[})]", re.DOTALL)
# The words that are the defaults of a type.
_WORDS_OF: Mapping[Type, tuple[str, ...]] = {
    BaseType(BaseTy.ScalarType): tuple(DTYPE_WORDS),
    BaseType(BaseTy.bool): ("True", "False"),
    BaseType(BaseTy.Layout): ("strided",),
    BaseType(BaseTy.MemoryFormat): ("contiguous_format",),
}
_INFINITE = frozenset(("inf", "nan", "INFINITY", "NAN", "float('inf')", 'float("inf")', "math.inf"))


def advise_on_default(default: str, type: Type) -> tuple[str | None, str | None]:
    """Return what to write instead of `default`, which `type` cannot have, and a fix if it means the same."""
    elem = type.elem if isinstance(type, OptionalType) else type
    fix = _same(default, type, elem)
    if fix is not None and find_misfit(fix, type) is None:
        return f"write '{fix}'", fix
    if elem in _WORDS_OF:
        hint, certain = meant(default, _WORDS_OF[elem])
        if hint is not None:
            return hint, certain
    if default == "None" and elem != BaseType(BaseTy.Tensor):
        return f"a value that may be None has the type '{type}?'", None
    if elem == BaseType(BaseTy.str) and _WORD.fullmatch(default):
        return f"write '\"{default}\"', with quotes", None
    if elem == BaseType(BaseTy.float) and default in _INFINITE:
        return (
            "a schema has no infinity and no NaN: write 'float? x=None', and let the kernel choose",
            None,
        )
    return None, None


def _same(default: str, type: Type, elem: Type) -> str | None:
    """Return the spelling of a schema for `default`; None if there is none."""
    if isinstance(type, OptionalType) and default in _NOTHING:
        return "None"
    if default in _TRUTH:
        return _TRUTH[default]
    if (number := _SUFFIXED.fullmatch(default)) is not None:
        return number[1]
    if elem == BaseType(BaseTy.ScalarType) and (dtype := _DTYPE.fullmatch(default)) is not None:
        return next((word for word in DTYPE_WORDS if word.lower() == dtype[1].lower()), None)
    if isinstance(elem, ListType) and (items := _CURLY.fullmatch(default)) is not None:
        return f"[{items[1].replace(' ', '').rstrip(',')}]"
    return None
