"""C++ types as values, and their spelling in a target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from opgen.model.native_function import NativeFunction
from opgen.model.types import (
    BaseTy,
    BaseType,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)


class Base(Struct, frozen=True):
    """A type with a name, such as `Tensor`, `int64_t` or `IntArrayRef`."""

    name: str


class ConstRef(Struct, frozen=True, cache_hash=True):
    elem: CType


class MutRef(Struct, frozen=True, cache_hash=True):
    elem: CType


class Optional(Struct, frozen=True, cache_hash=True):
    elem: CType


class ArrayRef(Struct, frozen=True, cache_hash=True):
    elem: CType


class Vector(Struct, frozen=True, cache_hash=True):
    elem: CType


class List(Struct, frozen=True):
    """A list that owns its elements, which may be optional."""

    elem: CType


class Dict(Struct, frozen=True):
    key: CType
    value: CType


class Pointer(Struct, frozen=True):
    """An owning pointer to an object of the custom class whose C++ type is `name`."""

    name: str


class Array(Struct, frozen=True):
    elem: CType
    size: int


class Tuple(Struct, frozen=True):
    elems: tuple[CType, ...]


CType: TypeAlias = (
    Base | ConstRef | MutRef | Optional | ArrayRef | Vector | List | Dict | Pointer | Array | Tuple
)

VOID = Base("void")
TENSOR = Base("Tensor")
SCALAR = Base("Scalar")
INT = Base("int64_t")
SYM_INT = Base("SymInt")
BOOL = Base("bool")
INT_ARRAY_REF = Base("IntArrayRef")
SYM_INT_ARRAY_REF = Base("SymIntArrayRef")
OPTIONAL_INT_ARRAY_REF = Base("OptionalIntArrayRef")
OPTIONAL_SYM_INT_ARRAY_REF = Base("OptionalSymIntArrayRef")
TENSOR_LIST = Base("TensorList")
I_TENSOR_LIST_REF = Base("ITensorListRef")
I_OPT_TENSOR_LIST_REF = Base("IOptTensorListRef")
OPTIONAL_TENSOR_REF = Base("OptionalTensorRef")
OPTIONAL_SCALAR_REF = Base("OptionalScalarRef")
TENSOR_OPTIONS = Base("TensorOptions")
DIMNAME_LIST = Base("DimnameList")
OPTIONAL_TENSORS = ConstRef(List(Optional(TENSOR)))

# Base types that are passed by value, and have another name in C++ than in schemas.
_VALUE_NAMES = {BaseTy.int: "int64_t", BaseTy.float: "double", BaseTy.str: "string_view"}


class NoCppType(Exception):
    """A schema type that has no C++ type in this position. The message says why."""


class TypeContext(Struct, frozen=True):
    """The properties of an operator that affect its C++ types.

    In a structured group, tensor lists are ITensorListRef. With `use_const_ref_for_mutable_tensors`, a written tensor
    has the type of one that is only read. The types of a `library` are those that PyTorch's registry accepts.
    """

    structured_group: bool
    use_const_ref: bool
    library: bool = False

    @staticmethod
    def of(f: NativeFunction) -> TypeContext:
        # The runtime's templates for structured kernels use torchgen's types. The registry's differ only for lists.
        structured = f.part_of_structured_group
        return TypeContext(
            structured, f.use_const_ref_for_mutable_tensors, f.is_library and not structured
        )


def value_type(type: Type, *, symint: bool) -> CType | None:
    """Return the C++ type of a schema type that is passed by value; None for any other.

    Raises NoCppType for custom classes and for lists of bool without a size.
    """
    match type:
        case BaseType(BaseTy.Tensor | BaseTy.Scalar):
            return None
        case BaseType(BaseTy.SymInt):
            return SYM_INT if symint else INT
        case BaseType(BaseTy.GraphModule):
            raise NoCppType("GraphModule has no C++ type")
        case BaseType(name):
            return Base(_VALUE_NAMES.get(name, name.name))
        case OptionalType(elem):
            inner = value_type(elem, symint=symint)
            return None if inner is None else Optional(inner)
        case ListType(BaseType(BaseTy.bool), size):
            if size is None:
                raise NoCppType("a list of bool needs a size, as in bool[3]")
            return Array(BOOL, size)
        case ListType():
            return None
        case CustomClassType() | DictType() | TupleType():
            raise NoCppType(f"{NOT_FOR_TORCHGEN[type.__class__]} has no C++ type")


# Descriptions of the types that only operators of libraries can have.
NOT_FOR_TORCHGEN: Mapping[object, str] = {
    CustomClassType: "a custom class",
    DictType: "a Dict",
    TupleType: "a tuple",
}


def _elements(ctype: CType) -> tuple[CType, ...]:
    match ctype:
        case Base() | Pointer():
            return ()
        case Tuple(elems):
            return elems
        case Dict(key, value):
            return (key, value)
        case _:
            return (ctype.elem,)


def base_names(ctype: CType) -> Iterator[str]:
    """Yield the names of the base types that `ctype` is made of."""
    if isinstance(ctype, Base):
        yield ctype.name
    for elem in _elements(ctype):
        yield from base_names(elem)


def holds_references(ctype: CType) -> bool:
    """Return whether a template has a reference as its argument, as in `optional<const T&>`, which is invalid C++."""
    template = isinstance(ctype, Optional | ArrayRef | Vector | List | Array)
    elems = _elements(ctype)
    return any(
        (template and isinstance(e, ConstRef | MutRef)) or holds_references(e) for e in elems
    )


def without_reference(ctype: CType) -> CType:
    """Return `Tensor` for `const Tensor&`: the type of a struct member that stores such an argument."""
    return ctype.elem if isinstance(ctype, ConstRef | MutRef) else ctype


class TypeSpelling(Struct, frozen=True, dict=True, kw_only=True):
    """The spelling of types, with namespaces.

    `names` maps base types to their spelling if that is not their name with `prefix`, which all other base types have
    except C++'s fundamental types. `standard` is the prefix of the standard library's templates. `array_ref`, `list`,
    `dictionary` and `pointer` are templates; `pointer` is empty if the target has no custom classes. `reference` is the
    text between a type and `&`, `assign` that between a parameter and its default. `defaults` maps words of schemas to
    C++ expressions; `symint_default` formats a number that is the default of a list of SymInts.
    """

    names: Mapping[str, str]
    prefix: str
    standard: str = "::std::"
    array_ref: str
    list: str
    dictionary: str
    pointer: str
    reference: str = ""
    assign: str = " = "
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
