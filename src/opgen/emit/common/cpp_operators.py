"""Operators of C++ that call an operator of the library: `a + b`."""

from __future__ import annotations

from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import NativeFunction

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


def cpp_operator(f: NativeFunction) -> tuple[str, tuple[str, ...]] | None:
    """Return the symbol of the C++ operator with the meaning of `f`, and the names of its one or two tensors; None if
    there is none."""
    names = _tensors(f)
    if names is None or [r.type for r in f.func.returns] != [TENSOR]:
        return None
    kind, name = f.func.kind(), f.root_name
    symbol = None
    if kind is SchemaKind.functional:
        symbol = (_UNARY if len(names) == 1 else _BINARY).get(name)
    elif kind is SchemaKind.inplace and len(names) == 2 and name in _INPLACE:
        symbol = f"{_BINARY[name]}="
    return None if symbol is None else (symbol, names)


def _tensors(f: NativeFunction) -> tuple[str, ...] | None:
    """Return the names of one or two tensors; None for an operator that takes anything else, except `alpha=1`."""
    given = f.func.arguments.flat_all
    tensors = given[:-1] if has_alpha(f) else given
    if all(a.type == TENSOR for a in tensors) and len(tensors) in (1, 2):
        return tuple(a.name for a in tensors)
    return None


def has_alpha(f: NativeFunction) -> bool:
    """Return whether the last argument of `f` is `alpha=1`."""
    last = f.func.arguments.flat_all[-1:]
    return bool(last) and last[0].name == "alpha" and last[0].default == "1"
