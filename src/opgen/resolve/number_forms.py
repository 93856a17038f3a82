"""The hidden operators of a target that cannot pass numbers of any kind (Scalar): lists of integers take their place."""

from __future__ import annotations

from msgspec.structs import replace

from opgen.model.cpp_identifier import RESERVED_PREFIX
from opgen.model.function_schema import (
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
)
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

_WORDS = ListType(BaseType(BaseTy.SymInt), None)


def takes_numbers(f: NativeFunction) -> bool:
    """Return whether an argument of `f` is a Scalar, or holds some."""
    return any(a.type.is_base_ty_like(BaseTy.Scalar) for a in f.func.arguments.flat_all)


def with_words(f: NativeFunction) -> NativeFunction:
    """Return the hidden operator for `f`, with the same arguments by position, and lists of integers for numbers.

    A list has the kind of each number and then its value, as runtime/torch_stable/src/dispatch/values.cpp reads it.
    """
    name = f.func.name
    arguments = Arguments(
        pre_self_positional=(),
        self_arg=None,
        post_self_positional=tuple(map(_argument, f.func.arguments.flat_all)),
        pre_tensor_options_kwarg_only=(),
        tensor_options=None,
        post_tensor_options_kwarg_only=(),
        out=(),
    )
    base = BaseOperatorName(f"{RESERVED_PREFIX}scalar_{name.name}", False, False)
    func = FunctionSchema(
        OperatorName(base, name.overload_name), arguments, f.func.returns, f.profile
    )
    return replace(f, func=func, variants=frozenset({Variant.function}), autogen=())


def _argument(a: Argument) -> Argument:
    return replace(a, type=_with_words(a.type), default=None)


def _with_words(type: Type) -> Type:
    if not type.is_base_ty_like(BaseTy.Scalar):
        return type
    if isinstance(type, OptionalType):
        return OptionalType(_with_words(type.elem))
    return _WORDS
