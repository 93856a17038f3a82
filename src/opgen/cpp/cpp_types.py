"""C++ types as values, their spelling in a target, and the types that schema types have in each API of an operator.

Source of the rules: torchgen, see docs/contributing/architecture.md. Source of those for libraries, which come first:
`TORCH_LIBRARY` of PyTorch 2.13, by trial: C++ functions of each type were registered for each schema, and called. In these,
a written argument has the same type as one that is only read, except a Tensor, which is `Tensor&`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import TypeAlias

from msgspec import Struct

from opgen.model.function_schema import FunctionSchema, Return, SchemaKind
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


_IVALUE = Base("IValue")
_STRING = Base("string")
_NO_GENERATOR = "PyTorch's registry accepts only 'Generator?'"
# Lists of these are passed as ArrayRef, which does not own its elements.
_BORROWED = frozenset(
    {BaseTy.float, BaseTy.ScalarType, BaseTy.Device, BaseTy.complex, BaseTy.Scalar}
)


def can_change_elements(type: Type) -> bool:
    """Return whether a kernel gets a List or Dict, whose elements it can change although the reference is const."""
    try:
        found = argument_type(
            type, mutable=False, symint=False, context=TypeContext(False, False, library=True)
        )
    except NoCppType:
        return False
    return isinstance(found.elem if isinstance(found, ConstRef | Optional) else found, List | Dict)


def _owned(type: Type) -> CType:
    """Return the type as an element of another type that owns it."""
    match type:
        case BaseType(BaseTy.Tensor):
            return TENSOR
        case BaseType(BaseTy.Scalar):
            return SCALAR
        case BaseType(BaseTy.str):
            return _STRING
        case BaseType(BaseTy.Any):
            return _IVALUE
        case BaseType(BaseTy.SymInt):
            return SYM_INT
        case BaseType(BaseTy.Generator):
            raise NoCppType(_NO_GENERATOR)
        case BaseType():
            return _value(type, symint=True)
        case CustomClassType(name, cpp):
            if cpp is None:
                raise NoCppType(f"the C++ class of '{name}' is not declared")
            return Pointer(cpp.type)
        case OptionalType(BaseType(BaseTy.Generator)):
            return Optional(Base("Generator"))
        case OptionalType(elem):
            return Optional(_owned(elem))
        case ListType(elem):
            return List(_owned(elem))
        case DictType(key, value):
            return Dict(_key(key), _owned(value))
        case TupleType(elems):
            return Tuple(tuple(map(_owned, elems)))


def _key(type: Type) -> CType:
    """Return the type of keys in a Dict. PyTorch's registry accepts only four."""
    if isinstance(type, BaseType) and type.name.name in ("str", "int", "float", "bool"):
        return _owned(type)
    raise NoCppType(f"PyTorch's registry accepts no Dict with keys of type '{type}'")


def _library_return_type(type: Type, *, by_reference: bool, context: TypeContext) -> CType:
    """Return the type of one return in all APIs. `by_reference` is whether a Tensor is returned as a reference.

    Raises NoCppType.
    """
    match type:
        case BaseType(BaseTy.Tensor) if by_reference:
            return ConstRef(TENSOR) if context.use_const_ref else MutRef(TENSOR)
        case ListType(BaseType(BaseTy.bool)):
            return List(BOOL)
        case ListType(elem):
            return Vector(_owned(elem))
        case OptionalType(ListType(elem)):
            return Optional(
                _library_return_type(ListType(elem, None), by_reference=False, context=context)
            )
        case _:
            return _owned(type)


@cache
def argument_type(type: Type, *, mutable: bool, symint: bool, context: TypeContext) -> CType:
    """Return the type of an argument in the public C++ API and of the dispatcher. Raises NoCppType."""
    library, is_mutable_ref = context.library, mutable and not context.use_const_ref
    match type:
        case BaseType(BaseTy.Tensor):
            return MutRef(TENSOR) if is_mutable_ref else ConstRef(TENSOR)
        case BaseType(BaseTy.Scalar):
            return ConstRef(SCALAR)
        case BaseType(BaseTy.Generator) if library:
            raise NoCppType(_NO_GENERATOR)
        case BaseType(BaseTy.Any) if library:
            return ConstRef(_IVALUE)
        case OptionalType(BaseType(BaseTy.Tensor)):
            return MutRef(TENSOR) if is_mutable_ref and not library else ConstRef(Optional(TENSOR))
        case OptionalType(BaseType(BaseTy.Scalar)):
            return ConstRef(Optional(SCALAR))
        case OptionalType(BaseType(BaseTy.Generator)):
            return Optional(Base("Generator"))
        case OptionalType(ListType(BaseType(BaseTy.SymInt))) if symint:
            return OPTIONAL_SYM_INT_ARRAY_REF
        case OptionalType(ListType(BaseType(BaseTy.int | BaseTy.SymInt))):
            return OPTIONAL_INT_ARRAY_REF
        case OptionalType(elem):
            written = mutable and not library
            inner = argument_type(elem, mutable=written, symint=symint, context=context)
            return Optional(inner.elem if library and isinstance(inner, ConstRef) else inner)
        case ListType(elem, size):
            return _list(elem, size, mutable, symint, context)
        case DictType() | CustomClassType() if library:
            return ConstRef(_owned(type))
        case TupleType() if library:
            return _owned(type)
    return _value(type, symint=symint)


def _list(elem: Type, size: int | None, mutable: bool, symint: bool, context: TypeContext) -> CType:
    match elem:
        case BaseType(BaseTy.SymInt) if symint:
            return SYM_INT_ARRAY_REF
        case BaseType(BaseTy.int | BaseTy.SymInt):
            return INT_ARRAY_REF
        case BaseType(BaseTy.Tensor):
            return ConstRef(I_TENSOR_LIST_REF) if context.structured_group else TENSOR_LIST
        case BaseType(BaseTy.Scalar):
            return ArrayRef(SCALAR)
        case OptionalType(BaseType(BaseTy.Tensor)):
            return OPTIONAL_TENSORS
        case BaseType(BaseTy.bool) if size is not None or not context.library:
            return _value(ListType(elem, size), symint=symint)
        case BaseType(name) if context.library and name in _BORROWED:
            return ArrayRef(_owned(elem))
        case _ if context.library:
            return ConstRef(List(_owned(elem)))
        case BaseType(BaseTy.Dimname):
            return DIMNAME_LIST
    return ArrayRef(argument_type(elem, mutable=mutable, symint=symint, context=context))


def _value(type: Type, *, symint: bool) -> CType:
    value = value_type(type, symint=symint)
    assert value is not None
    return value


@cache
def native_argument_type(type: Type, *, mutable: bool, symint: bool, context: TypeContext) -> CType:
    """Return the type of an argument of an unstructured kernel. Raises NoCppType."""
    if not context.library and type == OptionalType(BaseType(BaseTy.Tensor)):
        optional = Optional(TENSOR)
        return MutRef(optional) if mutable and not context.use_const_ref else ConstRef(optional)
    return argument_type(type, mutable=mutable, symint=symint, context=context)


_STRUCTURED = TypeContext(structured_group=True, use_const_ref=False)
_PLAIN_ELEMENTS = [BaseType(t) for t in (BaseTy.Tensor, BaseTy.int, BaseTy.bool, BaseTy.Dimname)]


@cache
def structured_argument_type(type: Type, *, symint: bool = False) -> CType:
    """Return the type of an argument of `meta` and `impl` in a structured kernel. Raises NoCppType."""
    match type:
        case OptionalType(BaseType(BaseTy.Tensor)):
            return OPTIONAL_TENSOR_REF
        case OptionalType(BaseType(BaseTy.Scalar)):
            return OPTIONAL_SCALAR_REF
        case OptionalType(ListType(BaseType(BaseTy.int))):
            return OPTIONAL_INT_ARRAY_REF
        case OptionalType(elem):
            return Optional(structured_argument_type(elem, symint=symint))
        case ListType(OptionalType(BaseType(BaseTy.Tensor))):
            return I_OPT_TENSOR_LIST_REF
        case ListType(BaseType(BaseTy.SymInt)) if symint:
            return SYM_INT_ARRAY_REF
        case ListType(elem) if elem not in _PLAIN_ELEMENTS:
            return ArrayRef(structured_argument_type(elem, symint=symint))
    return argument_type(type, mutable=False, symint=symint, context=_STRUCTURED)


@cache
def return_type(type: Type, *, mutable: bool, context: TypeContext) -> CType:
    """Return the type of one return, which is the same in all APIs. Raises NoCppType."""
    value = value_type(type, symint=True)
    if value is not None:
        return value
    match type:
        case BaseType(BaseTy.Tensor):
            if not mutable:
                return TENSOR
            return ConstRef(TENSOR) if context.use_const_ref else MutRef(TENSOR)
        case BaseType():
            return SCALAR
        case ListType(elem, size):
            if mutable:
                raise NoCppType("it is a written list")
            if size is not None:
                raise NoCppType("it is a list of fixed size")
            return Vector(return_type(elem, mutable=False, context=context))
        case OptionalType(BaseType(BaseTy.Tensor)):
            return Optional(TENSOR)
        case _:
            raise NoCppType("an optional return is Tensor?, or an optional value such as int?")


def type_of_return(f: NativeFunction, value: Return, context: TypeContext) -> CType:
    """Return the type of one return of `f`, which is the same in all APIs. Raises NoCppType."""
    if not context.library:
        return return_type(value.type, mutable=value.is_write, context=context)
    by_reference = value.is_write and _returns_references(f.func)
    return _library_return_type(value.type, by_reference=by_reference, context=context)


def _returns_references(func: FunctionSchema) -> bool:
    """Return whether written tensors are returned by reference: in-place operators and out variants do so.

    PyTorch's calls of boxed kernels support only these: they return the first argument, or the last ones.
    """
    if func.kind() is SchemaKind.inplace:
        return func.arguments.flat_all[0].name == "self"
    return func.kind() is SchemaKind.out


def returns_references(f: NativeFunction) -> bool:
    """Return whether `f` returns references to arguments."""
    written = any(r.is_write for r in f.func.returns)
    return written and (not f.is_library or _returns_references(f.func))


def returns_type(f: NativeFunction) -> CType:
    """Return the type of all returns of `f`: void, one type, or a tuple. Raises NoCppType."""
    context = TypeContext.of(f)
    types = [type_of_return(f, r, context) for r in f.func.returns]
    if not types:
        return VOID
    return types[0] if len(types) == 1 else Tuple(tuple(types))
