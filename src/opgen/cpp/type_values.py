"""C++ types as values: how one is written is the target's business (`spelling`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from opgen.dataclasses import dataclass
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
class Dict:
    key: CType
    value: CType


@dataclass(frozen=True, slots=True)
class Pointer:
    """An owning pointer to an object of the custom class whose C++ type is `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Array:
    elem: CType
    size: int


@dataclass(frozen=True, slots=True)
class Tuple:
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

# Base types that are passed by value under another name than the schema's.
_VALUE_NAMES = {BaseTy.int: "int64_t", BaseTy.float: "double", BaseTy.str: "string_view"}


class NoCppType(Exception):
    """A schema type that has no C++ spelling in the place where it stands; the message says why."""


class TypeContext(NamedTuple):
    """What about the function at hand changes its types.

    In a structured group tensor lists are ITensorListRef; with `use_const_ref_for_mutable_tensors`
    a written tensor looks like one that is only read. The types of a `library` are those of PyTorch's registry.
    """

    structured_group: bool
    use_const_ref: bool
    library: bool = False

    @staticmethod
    def of(f: NativeFunction) -> TypeContext:
        # The templates of structured kernels are written for torchgen's types, on which both agree but for lists.
        structured = f.part_of_structured_group
        return TypeContext(
            structured, f.use_const_ref_for_mutable_tensors, f.is_library and not structured
        )


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
        case CustomClassType() | DictType() | TupleType():
            raise NoCppType(f"{NOT_FOR_TORCHGEN[type.__class__]} has no C++ type")


# What to call the types that only the operators of libraries can have.
NOT_FOR_TORCHGEN: Mapping[object, str] = {
    CustomClassType: "a custom class",
    DictType: "a Dict",
    TupleType: "a tuple",
}


def holds_references(ctype: CType) -> bool:
    """Whether it is a template of a reference, as `optional<const T&>`, which C++ does not have."""
    match ctype:
        case Base() | Pointer():
            return False
        case Tuple(elems):
            return any(holds_references(elem) for elem in elems)
        case Dict(key, value):
            return holds_references(key) or holds_references(value)
        case ConstRef(elem) | MutRef(elem):
            return holds_references(elem)
        case Optional(elem) | ArrayRef(elem) | Vector(elem) | List(elem) | Array(elem):
            return isinstance(elem, ConstRef | MutRef) or holds_references(elem)


def without_reference(ctype: CType) -> CType:
    """`Tensor` for `const Tensor&`: what a struct holds to keep such an argument."""
    return ctype.elem if isinstance(ctype, ConstRef | MutRef) else ctype
