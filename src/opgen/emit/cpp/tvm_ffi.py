"""The functions that TVM-FFI calls (frameworks/tvm_ffi.cpp): one row for the operators of each name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opgen.emit.common.base import GeneratedFile, Item, cpp_string, generated, group_by
from opgen.emit.common.context import Context
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.frameworks import reasons_against_tvm_ffi, tvm_ffi_name

_NAMES: Mapping[BaseTy, str] = {
    BaseTy.Tensor: "ffi.Tensor",
    BaseTy.int: "int",
    BaseTy.SymInt: "int",
    BaseTy.float: "float",
    BaseTy.bool: "bool",
    BaseTy.SymBool: "bool",
    BaseTy.str: "ffi.String",
    BaseTy.ScalarType: "DataType",
    BaseTy.Device: "Device",
}


def build_tvm_ffi(context: Context) -> Iterator[GeneratedFile]:
    """Build frameworks/tvm_ffi.cpp, if the library asks for this framework."""
    if "tvm-ffi" not in context.library.frameworks:
        return
    functions = context.registry.functions
    reasons = {f.full_name: reason for f, reason in reasons_against_tvm_ffi(functions)}
    named = group_by(functions, tvm_ffi_name)
    yield generated(
        path="frameworks/tvm_ffi.cpp",
        template="TvmFfi.cpp.j2",
        library=context.library.name,
        functions=tuple(_function(name, found, reasons) for name, found in named.items()),
    )


def _function(name: str, functions: Sequence[NativeFunction], reasons: Mapping[str, str]) -> Item:
    """Return a function: the full names of its operators, its metadata and its documentation, in C++ string literals.

    Without operators, the documentation says why TVM-FFI cannot call them.
    """
    kept = [f for f in functions if f.full_name not in reasons]
    if kept:
        lines = [str(f.func) for f in kept] + sorted({f.doc for f in kept if f.doc})
    else:
        lines = [reasons[functions[0].full_name]]
    schema = _schema(kept[0]) if len(kept) == 1 else {"type": "ffi.Function"}
    return Item(
        name=name,
        operators=" ".join(f.full_name for f in kept),
        metadata=cpp_string(_json({"type_schema": _json(schema)})),
        doc=cpp_string("\n".join(lines)),
    )


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _schema(f: NativeFunction) -> dict[str, Any]:
    """Return the types of a function, as TVM-FFI's stub generator reads them."""
    returns = [_type(r.type) for r in f.func.returns if not r.is_write]
    result = {"type": "Tuple", "args": returns} if len(returns) > 1 else None
    params = [_type(a.type) for a in f.func.arguments.flat_all]
    return {
        "type": "ffi.Function",
        "named_args": {"return": [result or (returns or [{"type": "None"}])[0]], "params": params},
    }


def _type(type: Type) -> dict[str, Any]:
    if isinstance(type, OptionalType):
        return {"type": "Optional", "args": [_type(type.elem)]}
    if isinstance(type, ListType):
        return {"type": "ffi.Array", "args": [_type(type.elem)]}
    assert isinstance(type, BaseType)
    if type.name is BaseTy.Scalar:
        return {"type": "Variant", "args": [{"type": "int"}, {"type": "float"}]}
    return {"type": _NAMES.get(type.name, "Any")}
