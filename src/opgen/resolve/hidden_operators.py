"""Hidden operators of a target that cannot pass numbers of any kind (Scalar), or whose autograd kernels cannot call the next kernel."""

from __future__ import annotations

from msgspec.structs import replace

from opgen.model.cpp_identifier import RESERVED_PREFIX
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import (
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
)
from opgen.model.native_function import KernelSource, NativeFunction, Variant
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


HIDDEN_PREFIX = f"{RESERVED_PREFIX}below_"


def has_default_gradient(f: NativeFunction) -> bool:
    """Return whether the target decides what autograd does for `f`.

    False for operators that decompose, that have an Autograd kernel of their author, or that have no gradient by their types;
    and for existing functions, for which PyTorch does what it did before.
    """
    if f.has_composite_implicit_autograd_kernel:
        return False
    if any(kernel.source is KernelSource.existing for _, kernel in f.dispatch):
        return False
    if not any(a.type.is_tensor_like() for a in f.func.arguments.flat_all):
        return False
    if any(key.name.startswith(DispatchKey.Autograd.name) for key, _ in f.dispatch):
        return False
    return f.func.is_mutable or any(r.type.is_tensor_like() for r in f.func.returns)


def has_form_below(f: NativeFunction) -> bool:
    """Return whether `f` has a hidden operator below autograd.

    Those that take numbers are called through Python anyway. Of those with effects, compilers must see `f` itself.
    """
    return has_default_gradient(f) and not takes_numbers(f) and f.effects is None


def name_below(f: NativeFunction) -> str:
    """Return the name of the hidden operator, without its overload: `mylib::opgen_below_mix`."""
    return f"{f.namespace}::{HIDDEN_PREFIX}{f.func.name.name}"
