"""Translate schema types to C++ types, for each API of an operator.

Source of the rules: torchgen, see docs/contributing/architecture.md. Source of those for libraries, which come first:
`TORCH_LIBRARY` of PyTorch 2.13, by trial: C++ functions of each type were registered for each schema, and called. In these,
a written argument has the same type as one that is only read, except a Tensor, which is `Tensor&`.
"""

from __future__ import annotations

from functools import cache

from opgen.cpp.type_values import (
    BOOL,
    DIMNAME_LIST,
    I_OPT_TENSOR_LIST_REF,
    I_TENSOR_LIST_REF,
    INT_ARRAY_REF,
    NOT_FOR_TORCHGEN,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SCALAR_REF,
    OPTIONAL_SYM_INT_ARRAY_REF,
    OPTIONAL_TENSOR_REF,
    OPTIONAL_TENSORS,
    SCALAR,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    TENSOR,
    TENSOR_LIST,
    VOID,
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


@cache
def structured_argument_type(type: Type, *, symint: bool = False) -> CType:
    """Return the type of an argument of `meta` and `impl` in a structured kernel. Raises NoCppType."""
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
        case _:
            raise NoCppType(f"{NOT_FOR_TORCHGEN[type.__class__]} has no C++ type")


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
