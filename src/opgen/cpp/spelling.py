"""Write C++ types as a target spells them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

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


class TypeSpelling(Struct, frozen=True, dict=True):
    """The spelling of types, with namespaces.

    `names` maps base types to their spelling if that is not their name with `prefix`, which all other base types have
    except C++'s fundamental types. `standard` is the prefix of the standard library's templates. `array_ref`, `list`,
    `dictionary` and `pointer` are templates; `pointer` is empty if the target has no custom classes. `reference` is the
    text between a type and `&`, `assign` that between a parameter and its default. `defaults` maps words of schemas to
    C++ expressions; `symint_default` formats a number that is the default of a list of SymInts.
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

    @cached_property
    def _cache(self) -> dict[CType, str]:
        return {}


_FUNDAMENTAL = frozenset({"void", "bool", "int64_t", "double"})


def spell(ctype: CType, spelling: TypeSpelling) -> str:
    """Return `ctype` as C++ text."""
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
            return f"{spelling.dictionary}<{spell(key, spelling)}, {spell(value, spelling)}>"
        case Pointer(name):
            return f"{spelling.pointer}<{name}>"
        case Array(elem, size):
            return f"{spelling.standard}array<{spell(elem, spelling)}, {size}>"
        case Tuple(elems):
            inner = ", ".join(spell(elem, spelling) for elem in elems)
            return f"{spelling.standard}tuple<{inner}>"
