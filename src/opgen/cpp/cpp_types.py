"""Schema types into C++ types, for each of the APIs that a schema is written out as.

A C++ type is a value here; how it is written is the target's business (`spelling`). Source of the
translation tables: what torchgen derives, see docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeAlias

from opgen.dataclasses import dataclass
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, CustomClassType, ListType, OptionalType, Type


@dataclass(frozen=True, slots=True)
class Base:
    """A type with a name of its own, such as `Tensor`, `int64_t`, `IntArrayRef`."""

    name: str

    def __hash__(self) -> int:
        return hash(self.name)


class _Nested:
    """A type of another: its hash, which every look-up of a spelling asks for, is made once."""

    __slots__ = ("_hash",)

    elem: CType
    _hash: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((type(self).__name__, self.elem)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class ConstRef(_Nested):
    elem: CType

    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class MutRef(_Nested):
    elem: CType

    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Optional(_Nested):
    elem: CType

    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class ArrayRef(_Nested):
    elem: CType

    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Vector(_Nested):
    elem: CType

    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class List:
    """A list that owns its elements and can hold optional ones."""

    elem: CType


@dataclass(frozen=True, slots=True)
class Array:
    elem: CType
    size: int


@dataclass(frozen=True, slots=True)
class Tuple:
    elems: tuple[CType, ...]


CType: TypeAlias = Base | ConstRef | MutRef | Optional | ArrayRef | Vector | List | Array | Tuple

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

# Base types that are passed by value under another name than the schema's.
_VALUE_NAMES = {BaseTy.int: "int64_t", BaseTy.float: "double", BaseTy.str: "string_view"}


class NoCppType(Exception):
    """A schema type that has no C++ spelling in the place where it stands; the message says why."""


class TypeContext(NamedTuple):
    """What about the function at hand changes its types.

    In a structured group tensor lists are ITensorListRef; with `use_const_ref_for_mutable_tensors`
    a written tensor looks like one that is only read.
    """

    structured_group: bool
    use_const_ref: bool

    @staticmethod
    def of(f: NativeFunction) -> TypeContext:
        return TypeContext(f.part_of_structured_group, f.use_const_ref_for_mutable_tensors)


def value_type(type: Type, *, symint: bool) -> CType | None:
    """The C++ type of a schema type that is passed by value; None for one that is not.

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
        case CustomClassType():
            raise NoCppType("a custom class has no C++ type")


def _is(type: Type, base: BaseTy) -> bool:
    return isinstance(type, BaseType) and type.name is base


@cache
def argument_type(type: Type, *, mutable: bool, symint: bool, context: TypeContext) -> CType:
    """An argument of the public C++ API and of the dispatcher. Raises NoCppType."""
    value = value_type(type, symint=symint)
    if value is not None:
        return value
    written = mutable and not context.use_const_ref
    match type:
        case BaseType(BaseTy.Tensor):
            return MutRef(TENSOR) if written else ConstRef(TENSOR)
        case BaseType():
            return ConstRef(SCALAR)
        case OptionalType(elem):
            return _optional_argument(elem, mutable, symint, context)
        case ListType(elem):
            return _list_argument(elem, mutable, symint, context)
        case CustomClassType():
            raise NoCppType("a custom class has no C++ type")


def _optional_argument(elem: Type, mutable: bool, symint: bool, context: TypeContext) -> CType:
    if _is(elem, BaseTy.Tensor):
        if mutable and not context.use_const_ref:
            return MutRef(TENSOR)
        return ConstRef(Optional(TENSOR))
    if _is(elem, BaseTy.Scalar):
        return ConstRef(Optional(SCALAR))
    if isinstance(elem, ListType) and _is(elem.elem, BaseTy.int):
        return OPTIONAL_INT_ARRAY_REF
    if isinstance(elem, ListType) and _is(elem.elem, BaseTy.SymInt):
        return OPTIONAL_SYM_INT_ARRAY_REF if symint else OPTIONAL_INT_ARRAY_REF
    return Optional(argument_type(elem, mutable=mutable, symint=symint, context=context))


def _list_argument(elem: Type, mutable: bool, symint: bool, context: TypeContext) -> CType:
    if _is(elem, BaseTy.int):
        return INT_ARRAY_REF
    if _is(elem, BaseTy.SymInt):
        return SYM_INT_ARRAY_REF if symint else INT_ARRAY_REF
    if _is(elem, BaseTy.Tensor):
        return ConstRef(I_TENSOR_LIST_REF) if context.structured_group else TENSOR_LIST
    if _is(elem, BaseTy.Scalar):
        return ArrayRef(SCALAR)
    if _is(elem, BaseTy.Dimname):
        return DIMNAME_LIST
    if isinstance(elem, OptionalType) and _is(elem.elem, BaseTy.Tensor):
        return OPTIONAL_TENSORS
    return ArrayRef(argument_type(elem, mutable=mutable, symint=symint, context=context))


@cache
def native_argument_type(type: Type, *, mutable: bool, symint: bool, context: TypeContext) -> CType:
    """An argument of an unstructured kernel. Raises NoCppType."""
    if isinstance(type, OptionalType) and _is(type.elem, BaseTy.Tensor):
        optional = Optional(TENSOR)
        return MutRef(optional) if mutable and not context.use_const_ref else ConstRef(optional)
    return argument_type(type, mutable=mutable, symint=symint, context=context)


@cache
def structured_argument_type(type: Type, *, symint: bool = False) -> CType:
    """An argument of a structured kernel's meta and impl. Raises NoCppType."""
    value = value_type(type, symint=symint)
    if value is not None:
        return value
    match type:
        case BaseType(BaseTy.Tensor):
            return ConstRef(TENSOR)
        case BaseType():
            return ConstRef(SCALAR)
        case OptionalType(BaseType(BaseTy.Tensor)):
            return OPTIONAL_TENSOR_REF
        case OptionalType(BaseType(BaseTy.Scalar)):
            return OPTIONAL_SCALAR_REF
        case OptionalType(ListType(BaseType(BaseTy.int))):
            return OPTIONAL_INT_ARRAY_REF
        case OptionalType(elem):
            return Optional(structured_argument_type(elem, symint=symint))
        case ListType(BaseType(BaseTy.Tensor)):
            return ConstRef(I_TENSOR_LIST_REF)
        case ListType(OptionalType(BaseType(BaseTy.Tensor))):
            return I_OPT_TENSOR_LIST_REF
        case ListType(BaseType(BaseTy.int)):
            return INT_ARRAY_REF
        case ListType(BaseType(BaseTy.SymInt)) if symint:
            return SYM_INT_ARRAY_REF
        case ListType(BaseType(BaseTy.Dimname)):
            return DIMNAME_LIST
        case ListType(elem):
            return ArrayRef(structured_argument_type(elem, symint=symint))
        case CustomClassType():
            raise NoCppType("a custom class has no C++ type")


@cache
def return_type(type: Type, *, mutable: bool, context: TypeContext) -> CType:
    """One return, in every API. Raises NoCppType."""
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
                raise NoCppType("it is a list that is written")
            if size is not None:
                raise NoCppType("it is a list of fixed size")
            return Vector(return_type(elem, mutable=False, context=context))
        case OptionalType(BaseType(BaseTy.Tensor)):
            return Optional(TENSOR)
        case _:
            raise NoCppType("of the optional types only Tensor? and those of values can be")


def returns_type(f: NativeFunction) -> CType:
    """All returns of `f`: void, one type, or a tuple. Raises NoCppType."""
    context = TypeContext.of(f)
    types = [return_type(r.type, mutable=r.is_write, context=context) for r in f.func.returns]
    if not types:
        return VOID
    return types[0] if len(types) == 1 else Tuple(tuple(types))


def holds_references(ctype: CType) -> bool:
    """Whether it is a template of a reference, as `optional<const T&>`, which C++ does not have."""
    match ctype:
        case Base():
            return False
        case Tuple(elems):
            return any(holds_references(elem) for elem in elems)
        case ConstRef(elem) | MutRef(elem):
            return holds_references(elem)
        case Optional(elem) | ArrayRef(elem) | Vector(elem) | List(elem) | Array(elem):
            return isinstance(elem, ConstRef | MutRef) or holds_references(elem)


def without_reference(ctype: CType) -> CType:
    """`Tensor` for `const Tensor&`: what a struct holds to keep such an argument."""
    return ctype.elem if isinstance(ctype, ConstRef | MutRef) else ctype


ArgumentType: TypeAlias = Callable[[Type], CType]
