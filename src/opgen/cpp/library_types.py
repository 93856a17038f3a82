"""Translate schema types of libraries to the C++ types that PyTorch's registry accepts, for all APIs.

Source: `TORCH_LIBRARY` of PyTorch 2.13, by trial: C++ functions of each type were registered for each schema, and called.
A written argument has the same type as one that is only read, except a Tensor, which is `Tensor&`.
"""

from __future__ import annotations

from opgen.cpp.type_values import (
    BOOL,
    INT_ARRAY_REF,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SYM_INT_ARRAY_REF,
    OPTIONAL_TENSORS,
    SCALAR,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    TENSOR,
    TENSOR_LIST,
    Array,
    ArrayRef,
    Base,
    ConstRef,
    CType,
    Dict,
    List,
    MutRef,
    NoCppType,
    Optional,
    Pointer,
    Tuple,
    TypeContext,
    Vector,
    value_type,
)
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

_IVALUE = Base("IValue")
_STRING = Base("string")
# Lists of these are passed as ArrayRef, which does not own its elements.
_BORROWED = frozenset(
    {BaseTy.float, BaseTy.ScalarType, BaseTy.Device, BaseTy.complex, BaseTy.Scalar}
)


def library_argument_type(
    type: Type, *, mutable: bool, symint: bool, context: TypeContext
) -> CType:
    """Return the type of an argument in all APIs except that of structured kernels. Raises NoCppType."""
    match type:
        case BaseType(BaseTy.Tensor):
            return MutRef(TENSOR) if mutable and not context.use_const_ref else ConstRef(TENSOR)
        case BaseType(BaseTy.Scalar):
            return ConstRef(SCALAR)
        case BaseType(BaseTy.Generator):
            raise NoCppType("PyTorch's registry accepts only 'Generator?'")
        case BaseType(BaseTy.Any):
            return ConstRef(_IVALUE)
        case BaseType():
            return _value(type, symint=symint)
        case CustomClassType():
            return ConstRef(_owned(type))
        case DictType():
            return ConstRef(_owned(type))
        case TupleType():
            return _owned(type)
        case OptionalType(elem):
            return _optional(elem, symint, context)
        case ListType(elem, size):
            return _list(elem, size, symint, context)


def can_change_elements(type: Type) -> bool:
    """Return whether a kernel gets a List or Dict, whose elements it can change although the reference is const."""
    try:
        found = library_argument_type(
            type, mutable=False, symint=False, context=TypeContext(False, False, library=True)
        )
    except NoCppType:
        return False
    return isinstance(found.elem if isinstance(found, ConstRef | Optional) else found, List | Dict)


def _value(type: Type, *, symint: bool) -> CType:
    value = value_type(type, symint=symint)
    assert value is not None
    return value


def _optional(elem: Type, symint: bool, context: TypeContext) -> CType:
    match elem:
        case BaseType(BaseTy.Tensor):
            return ConstRef(Optional(TENSOR))
        case BaseType(BaseTy.Scalar):
            return ConstRef(Optional(SCALAR))
        case BaseType(BaseTy.Generator):
            return Optional(Base("Generator"))
        case ListType(BaseType(BaseTy.int)):
            return OPTIONAL_INT_ARRAY_REF
        case ListType(BaseType(BaseTy.SymInt)):
            return OPTIONAL_SYM_INT_ARRAY_REF if symint else OPTIONAL_INT_ARRAY_REF
    inner = library_argument_type(elem, mutable=False, symint=symint, context=context)
    return Optional(inner.elem if isinstance(inner, ConstRef) else inner)


def _list(elem: Type, size: int | None, symint: bool, context: TypeContext) -> CType:
    match elem:
        case BaseType(BaseTy.int):
            return INT_ARRAY_REF
        case BaseType(BaseTy.SymInt):
            return SYM_INT_ARRAY_REF if symint else INT_ARRAY_REF
        case BaseType(BaseTy.Tensor):
            return TENSOR_LIST
        case BaseType(BaseTy.bool) if size is not None:
            return Array(BOOL, size)
        case BaseType(name) if name in _BORROWED:
            return ArrayRef(_owned(elem))
        case OptionalType(BaseType(BaseTy.Tensor)):
            return OPTIONAL_TENSORS
    return ConstRef(List(_owned(elem)))


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
            raise NoCppType("PyTorch's registry accepts only 'Generator?'")
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
    if isinstance(type, BaseType) and type.name in (
        BaseTy.str,
        BaseTy.int,
        BaseTy.float,
        BaseTy.bool,
    ):
        return _owned(type)
    raise NoCppType(f"PyTorch's registry accepts no Dict with keys of type '{type}'")


def library_return_type(type: Type, *, by_reference: bool, context: TypeContext) -> CType:
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
                library_return_type(ListType(elem, None), by_reference=False, context=context)
            )
        case _:
            return _owned(type)
