"""C++ types into text, as one target writes them."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.cpp.type_values import (
    Array,
    ArrayRef,
    Base,
    ConstRef,
    CType,
    Dict,
    List,
    MutRef,
    Optional,
    Pointer,
    Tuple,
    Vector,
)
from opgen.dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TypeSpelling:
    """How a target writes types.

    `names` gives the spelling of a base type where it differs from its name; `prefix` is put before
    every other base type that is not a C++ fundamental type. `standard` is the prefix of the standard
    library's templates, `reference` the text between a type and
    `&`, `assign` the text between a parameter and its default.
    """

    names: Mapping[str, str]
    prefix: str
    standard: str
    array_ref: str
    list: str
    dictionary: str
    pointer: str
    reference: str
    assign: str
    defaults: Mapping[str, str]
    symint_default: str
    _cache: dict[CType, str] = field(default_factory=dict, repr=False, compare=False)


_FUNDAMENTAL = frozenset({"void", "bool", "int64_t", "double"})


def spell(ctype: CType, spelling: TypeSpelling) -> str:
    """`ctype` as text."""
    text = spelling._cache.get(ctype)
    if text is None:
        text = spelling._cache[ctype] = _spell(ctype, spelling)
    return text


def _spell(ctype: CType, spelling: TypeSpelling) -> str:
    match ctype:
        case Base(name):
            if name in spelling.names:
                return spelling.names[name]
            return name if name in _FUNDAMENTAL else spelling.prefix + name
        case ConstRef(elem):
            return f"const {spell(elem, spelling)}{spelling.reference}&"
        case MutRef(elem):
            return f"{spell(elem, spelling)}{spelling.reference}&"
        case Optional(elem):
            return f"{spelling.standard}optional<{spell(elem, spelling)}>"
        case ArrayRef(elem):
            return f"{spelling.array_ref}<{spell(elem, spelling)}>"
        case Vector(elem):
            return f"{spelling.standard}vector<{spell(elem, spelling)}>"
        case List(elem):
            return f"{spelling.list}<{spell(elem, spelling)}>"
        case Dict(key, value):
            return f"{spelling.dictionary}<{spell(key, spelling)},{spell(value, spelling)}>"
        case Pointer(name):
            return f"{spelling.pointer}<{name}>"
        case Array(elem, size):
            return f"{spelling.standard}array<{spell(elem, spelling)},{size}>"
        case Tuple(elems):
            inner = ",".join(spell(elem, spelling) for elem in elems)
            return f"{spelling.standard}tuple<{inner}>"
