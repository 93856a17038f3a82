"""The C++ operators on class Tensor, of a library that has operators of the same meaning: `a + b` calls add.Tensor.

A number is passed as a tensor that wraps it, so that the text of `a + 1` depends on add.Tensor alone. Where a library has no
such operator, the formulas of derivatives.yaml have one of the runtime (<opgen/autograd/tensor_operators.h>).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.cpp.type_values import SCALAR, TENSOR, ConstRef, CType, MutRef
from opgen.emit.common.base import PublicFunction, Record
from opgen.emit.common.context import Context
from opgen.emit.common.text import operator_struct
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType

# By root names. Source: ATen's TensorOperators.h and TensorBody.h.
_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "remainder": "%",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_UNARY = {"neg": "-", "bitwise_not": "~"}
_INPLACE = {"add", "sub", "mul", "div", "bitwise_and", "bitwise_or", "bitwise_xor"}
_TENSOR, _SCALAR, _WRITTEN = ConstRef(TENSOR), ConstRef(SCALAR), MutRef(TENSOR)
_TENSOR_TYPE = BaseType(BaseTy.Tensor)
_WRAP = "opgen::wrapped_scalar_tensor({})"


class TensorOperators(Record, frozen=True):
    """The C++ operators that call one operator of the library: for tensors, and for a tensor and a number."""

    root: str
    text: str
    functions: tuple[PublicFunction, ...]


def tensor_operators(
    context: Context, functions: Iterable[NativeFunction]
) -> Iterator[TensorOperators]:
    """Yield the C++ operators of those that have any. The first of several operators that suit one has it."""
    found: set[tuple[str, int]] = set()
    for f in functions:
        kind, names = f.func.kind(), _arguments(f)
        if names is None or [r.type for r in f.func.returns] != [_TENSOR_TYPE]:
            continue
        symbol = _symbol(f, len(names))
        if symbol is None or (symbol, len(names)) in found:
            continue
        found.add((symbol, len(names)))
        if len(names) == 1:
            made: Iterable[PublicFunction] = [_unary(context, f, symbol, names[0])]
        else:
            left = (_WRITTEN,) if kind is SchemaKind.inplace else (_TENSOR, _SCALAR)
            made = _binary(context, f, symbol, left, names)
        yield TensorOperators(f.root_name, context.spell.schema(f), tuple(made))


def _symbol(f: NativeFunction, tensors: int) -> str | None:
    """Return the C++ operator with the meaning of `f`, which takes one or two tensors."""
    kind, name = f.func.kind(), f.root_name
    if kind is SchemaKind.functional:
        return (_UNARY if tensors == 1 else _BINARY).get(name)
    is_inplace = kind is SchemaKind.inplace and tensors == 2 and name in _INPLACE
    return f"{_BINARY[name]}=" if is_inplace else None


def _unary(context: Context, f: NativeFunction, symbol: str, name: str) -> PublicFunction:
    return _operator(context, f, symbol, ((_TENSOR, name),), (name,))


def _binary(
    context: Context,
    f: NativeFunction,
    symbol: str,
    left: tuple[CType, ...],
    names: tuple[str, ...],
) -> Iterator[PublicFunction]:
    """Yield the operator for two tensors, and those for a tensor and a number."""
    alpha = ("1",) if _has_alpha(f) else ()
    for first in left:
        for second in (_TENSOR, _SCALAR):
            if first == second == _SCALAR:
                continue
            given = ((first, names[0]), (second, names[1]))
            passed = (_WRAP.format(name) if type == _SCALAR else name for type, name in given)
            yield _operator(context, f, symbol, given, (*passed, *alpha))


def _operator(
    context: Context,
    f: NativeFunction,
    symbol: str,
    given: tuple[tuple[CType, str], ...],
    arguments: tuple[str, ...],
) -> PublicFunction:
    parameters = tuple(f"{context.spell.type(type)} {name}" for type, name in given)
    returned = _WRITTEN if given[0][0] == _WRITTEN else TENSOR
    return PublicFunction(
        text="",
        returns=context.spell.type(returned),
        name=f"operator{symbol}",
        given=parameters,
        given_plainly=parameters,
        callee=f"{operator_struct(f)}::call",
        arguments=arguments,
    )


def _arguments(f: NativeFunction) -> tuple[str, ...] | None:
    """Return the names of one or two tensors; None for an operator that takes anything else, except `alpha=1`."""
    given = f.func.arguments.flat_all
    tensors = given[:-1] if _has_alpha(f) else given
    if all(a.type == _TENSOR_TYPE for a in tensors) and len(tensors) in (1, 2):
        return tuple(a.name for a in tensors)
    return None


def _has_alpha(f: NativeFunction) -> bool:
    last = f.func.arguments.flat_all[-1:]
    return bool(last) and last[0].name == "alpha" and last[0].default == "1"
