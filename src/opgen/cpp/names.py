"""Names of operators and kernels into C++ names and namespaces."""

from __future__ import annotations

from opgen.model.cpp_identifier import CPP_KEYWORDS, CppIdentifier, cpp_identifier, is_macro
from opgen.model.function_schema import FunctionSchema
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy

# What the class of an operator refers to by these names, after which it cannot be called itself.
_MEMBERS = frozenset(
    {"call", "name", "opgen", "overload_name", "redispatch", "schema", "schema_str", "slot"}
)

# Parameters of these names would hide types of the parameters after them.
_HIDING = frozenset(
    (
        *(t.name for t in BaseTy if t.name[0].isupper()),
        *("int64_t", "ArrayRef", "IntArrayRef", "SymIntArrayRef", "OptionalArrayRef", "IValue"),
        *("OptionalIntArrayRef", "OptionalSymIntArrayRef", "TensorList", "ITensorListRef"),
        *("OptionalTensorRef", "OptionalScalarRef", "IOptTensorListRef", "TensorOptions"),
        *("DimnameList", "List", "Dict", "Int", "dispatchKeySet"),
    )
)


def operator_namespace(namespace: str) -> str:
    """The C++ namespace of the operators of a schema namespace: `aten` is `at`, others are themselves."""
    return "at" if namespace == "aten" else namespace


def kernel_namespace(namespace: str, written: str | None) -> str:
    """The C++ namespace of a kernel whose YAML text names the namespace `written` (None: it does not)."""
    return f"{written or operator_namespace(namespace)}::native"


def meta_namespace(namespace: str) -> str:
    """The C++ namespace of the meta classes of a schema namespace."""
    return f"{operator_namespace(namespace)}::meta"


def parameter_name(name: str) -> CppIdentifier:
    """The C++ parameter of an argument: `name` itself, or `name_` where it would hide what declarations need."""
    return CppIdentifier(f"{name}_") if name in _HIDING or is_macro(name) else cpp_identifier(name)


def cpp_name(
    func: FunctionSchema, *, faithful: bool = False, symint: bool = False
) -> CppIdentifier:
    """The C++ function of an operator: `add`, `add_`, `add_out`, or the faithful `add_outf`."""
    name = str(func.name.name)
    if symint:
        name += "_symint"
    if func.is_out_fn():
        name += "_outf" if faithful else "_out"
    return cpp_identifier(name)


def operator_struct_name(func: FunctionSchema) -> CppIdentifier:
    """The class in namespace `_ops` of an operator: with the overload, so that it is the only one."""
    name = func.name.unambiguous_name()
    # `name_` would be the class of the in-place variant, and `foo_out` is that of foo.out.
    is_out = not func.name.overload_name and name.endswith("_out")
    taken = name in CPP_KEYWORDS or name in _MEMBERS or is_out
    return CppIdentifier(f"opgen_{name}" if taken else name)


def native_name(func: FunctionSchema) -> CppIdentifier:
    """The name that a wrapper of a kernel has: with the overload, so that it is the only one."""
    name = str(func.name.name)
    if func.is_out_fn():
        name += "_out"
    if func.name.overload_name:
        name += f"_{func.name.overload_name}"
    return cpp_identifier(name)


def return_names(f: NativeFunction, *, fallback: str = "result") -> tuple[str, ...]:
    """A name for every return: self in place, the outs, the schema's, or result, result0, result1..."""
    return tuple(_return_name(f, index, fallback) for index in range(len(f.func.returns)))


def _return_name(f: NativeFunction, index: int, fallback: str) -> str:
    func = f.func
    if func.name.name.inplace:
        return "self"
    if func.is_out_fn():
        return func.arguments.out[index].name
    name = func.returns[index].name
    if name is None:
        return fallback if len(func.returns) == 1 else f"{fallback}{index}"
    taken = any(a.name == name for a in func.arguments.flat_all)
    return f"{name}_return" if taken else name
