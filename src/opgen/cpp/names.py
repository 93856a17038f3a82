"""Derive C++ names and namespaces from names of operators and kernels."""

from __future__ import annotations

from functools import cache, lru_cache

from opgen.model.cpp_words import CPP_KEYWORDS, CppIdentifier, cpp_identifier, is_macro
from opgen.model.function_schema import FunctionSchema, OperatorName
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
from opgen.model.types import BaseTy

# Names that the class of an operator uses for its members, or refers to. The class itself cannot have them.
_MEMBERS = frozenset(
    {"call", "name", "opgen", "overload_name", "redispatch", "schema", "schema_str", "slot"}
)

# Parameters with these names would hide types that later parameters use.
_HIDING = frozenset(
    (
        *(t.name for t in BaseTy if t.name[0].isupper()),
        *("int64_t", "ArrayRef", "IntArrayRef", "SymIntArrayRef", "OptionalArrayRef", "IValue"),
        *("OptionalIntArrayRef", "OptionalSymIntArrayRef", "TensorList", "ITensorListRef"),
        *("OptionalTensorRef", "OptionalScalarRef", "IOptTensorListRef", "TensorOptions"),
        *("DimnameList", "List", "Dict", "Int", "dispatchKeySet"),
    )
)


def kernel_namespace(namespace: str, written: str | None) -> str:
    """Return the C++ namespace of a kernel. `written` is the namespace before its name in the YAML, if there is one."""
    return f"{written or operator_namespace(namespace)}::native"


def meta_namespace(namespace: str) -> str:
    """Return the C++ namespace of the meta classes of a schema namespace."""
    return f"{operator_namespace(namespace)}::meta"


@lru_cache(maxsize=8192)
def parameter_name(name: str) -> CppIdentifier:
    """Return the C++ parameter of an argument: `name`, or `name_` if that would hide a name that declarations use."""
    return CppIdentifier(f"{name}_") if name in _HIDING or is_macro(name) else cpp_identifier(name)


def cpp_name(
    func: FunctionSchema, *, faithful: bool = False, symint: bool = False
) -> CppIdentifier:
    """Return the C++ function of an operator: `add`, `add_`, `add_out`, or the faithful `add_outf`."""
    name = str(func.name.name)
    if symint:
        name += "_symint"
    if func.is_out_fn():
        name += "_outf" if faithful else "_out"
    return cpp_identifier(name)


def operator_struct_name(func: FunctionSchema) -> CppIdentifier:
    """Return the class of an operator in namespace `_ops`. It includes the overload, so that it is unique."""
    return _struct_name(func.name)


@cache
def _struct_name(operator: OperatorName) -> CppIdentifier:
    name = operator.unambiguous_name
    # `foo_` would be the struct of the in-place variant, and `foo_out` that of foo.out, so use a prefix.
    is_out = not operator.overload_name and name.endswith("_out")
    taken = name in CPP_KEYWORDS or name in _MEMBERS or is_out
    return CppIdentifier(f"opgen_{name}" if taken else name)


def native_name(func: FunctionSchema) -> CppIdentifier:
    """Return the name of a wrapper around a kernel. It includes the overload, so that it is unique."""
    name = str(func.name.name)
    if func.is_out_fn():
        name += "_out"
    if func.name.overload_name:
        name += f"_{func.name.overload_name}"
    return cpp_identifier(name)


def return_names(f: NativeFunction) -> tuple[str, ...]:
    """Return a name for each return: self, the out arguments, those of the schema, or `result` with a number."""
    func = f.func
    if func.name.name.inplace:
        return ("self",) * len(func.returns)
    if func.is_out_fn():
        return tuple(func.arguments.out[index].name for index in range(len(func.returns)))
    taken = {a.name for a in func.arguments.flat_all}
    plain = (
        ["result"] if len(func.returns) == 1 else [f"result{i}" for i in range(len(func.returns))]
    )
    names = ((f"{r.name}_return" if r.name in taken else r.name) for r in func.returns)
    return tuple(name or other for name, other in zip(names, plain))
