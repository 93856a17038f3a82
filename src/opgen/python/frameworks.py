"""Which operators other frameworks than PyTorch can call, and the check of the option `frameworks`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import did_you_mean
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

# Each framework, and the package that pip installs for it.
FRAMEWORKS = {"jax": "jax", "tvm-ffi": "apache-tvm-ffi"}

# Tags of operators the shapes of whose results are not known before the call.
_SHAPED_BY_VALUES = ("dynamic_output_shape", "data_dependent_output")
# The types whose values JAX passes to a kernel as attributes.
_ATTRIBUTES = frozenset(
    {
        *(BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.bool, BaseTy.SymBool),
        *(BaseTy.str, BaseTy.Scalar, BaseTy.ScalarType),
    }
)
# The types that TVM-FFI has counterparts of.
_IN_TVM_FFI = _ATTRIBUTES | {BaseTy.Tensor, BaseTy.Device}
# Those of which JAX passes lists.
_LISTED = _ATTRIBUTES - {BaseTy.str, BaseTy.Scalar, BaseTy.ScalarType}


def report_frameworks(
    functions: Sequence[NativeFunction],
    frameworks: Sequence[str],
    diagnostics: Diagnostics,
    *,
    is_runtime: bool,
    python: bool,
) -> None:
    """Report frameworks that a library cannot serve (E0910), and operators that one cannot call (W1040)."""
    for name in frameworks:
        if name not in FRAMEWORKS:
            message = f"there is no framework '{name}'"
            hint = did_you_mean(name, FRAMEWORKS) or f"there is {', '.join(FRAMEWORKS)}"
        elif not is_runtime:
            message = f"{name} calls libraries for target runtime"
            hint = "leave out --target; for PyTorch, build the same files for target torch-stable"
        elif name == "jax" and not python:
            message = f"the functions for {name} are a module of the Python package"
            hint = "add --python"
        else:
            continue
        diagnostics.error("E0910", message, None, hint=hint)
        return
    for framework, words, reasons in _REASONS:
        if framework in frameworks:
            for f, reason in reasons(functions):
                diagnostics.warning(
                    "W1040", f"{words} cannot call '{f.func.name}': {reason}", f.span
                )


def reasons_against_jax(
    functions: Iterable[NativeFunction],
) -> Iterator[tuple[NativeFunction, str]]:
    """Yield each operator that JAX cannot call, and why, but no out variants, which are for JAX's own memory."""
    for f in functions:
        reason = "" if f.func.is_out_fn() else _why_not_jax(f)
        if reason:
            yield f, reason


def _why_not_jax(f: NativeFunction) -> str:
    """Return why JAX cannot call an operator that is no out variant; empty if it can."""
    returns, arguments = f.func.returns, f.func.arguments.flat_all
    if any(r.annotation is not None and not r.is_write for r in returns):
        return "it returns a view, and JAX has none"
    for r in returns:
        if not r.type.is_tensor_like():
            return f"its result of type {r.type} would have to be known before the call"
    if not returns and not any(a.is_write for a in arguments):
        return "it returns nothing, so JAX would not call it"
    if any(a.is_write and a.type.is_list_like() is not None for a in arguments):
        return "it writes a list of tensors"
    tag = next((tag for tag in _SHAPED_BY_VALUES if tag in f.tags), None)
    if tag is not None:
        return f"it has the tag {tag}, and JAX needs the shape of each result before the call"
    for a in arguments:
        is_optional = a.default is not None or isinstance(a.type, OptionalType)
        if not (is_optional or a.type.is_tensor_like() or is_attribute(a.type)):
            return f"it needs an argument of type {a.type}"
    return ""


def is_attribute(type: Type) -> bool:
    """Whether JAX passes values of a type to a kernel."""
    if isinstance(type, OptionalType):
        return is_attribute(type.elem)
    if isinstance(type, ListType):
        return isinstance(type.elem, BaseType) and type.elem.name in _LISTED
    return isinstance(type, BaseType) and type.name in _ATTRIBUTES


def tvm_ffi_name(f: NativeFunction) -> str:
    """Return the name of the function that TVM-FFI calls: the operator's, and `_out` after it for out variants."""
    return f"{f.func.name.name}_out" if f.func.is_out_fn() else str(f.func.name.name)


def reasons_against_tvm_ffi(
    functions: Iterable[NativeFunction],
) -> Iterator[tuple[NativeFunction, str]]:
    """Yield each operator that TVM-FFI cannot call, and why."""
    namespaces: dict[str, str] = {}
    for f in functions:
        owner = namespaces.setdefault(tvm_ffi_name(f), f.namespace)
        if owner != f.namespace:
            reason = f"an operator of namespace '{owner}' has the same name, and functions have no namespace"
        else:
            reason = _why_not_tvm_ffi(f)
        if reason:
            yield f, reason


def _why_not_tvm_ffi(f: NativeFunction) -> str:
    for a in f.func.arguments.flat_all:
        optional = a.default is not None or isinstance(a.type, OptionalType)
        if not optional and not is_in_tvm_ffi(a.type):
            return f"it needs an argument of type {a.type}"
    for r in f.func.returns:
        if not is_in_tvm_ffi(r.type):
            return f"it returns a value of type {r.type}"
    return ""


def is_in_tvm_ffi(type: Type) -> bool:
    """Whether TVM-FFI has a counterpart of a type."""
    if isinstance(type, (ListType, OptionalType)):
        return is_in_tvm_ffi(type.elem)
    return isinstance(type, BaseType) and type.name in _IN_TVM_FFI


# Each framework, its name in messages, and the operators that it cannot call.
_REASONS = (
    ("jax", "JAX", reasons_against_jax),
    ("tvm-ffi", "TVM-FFI", reasons_against_tvm_ffi),
)
