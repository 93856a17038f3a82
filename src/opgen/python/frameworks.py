"""Which operators other frameworks than PyTorch can call, and the check of the option `frameworks`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import did_you_mean
from opgen.model.function_schema import Argument
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

FRAMEWORKS = ("jax",)

# Tags of operators the shapes of whose results are not known before the call.
_SHAPED_BY_VALUES = ("dynamic_output_shape", "data_dependent_output")
# The types whose values JAX passes to a kernel as attributes.
_ATTRIBUTES = frozenset(
    {
        *(BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.bool, BaseTy.SymBool),
        *(BaseTy.str, BaseTy.Scalar, BaseTy.ScalarType),
    }
)
# Those of which it passes lists.
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
        elif not python:
            message = f"the functions for {name} are a module of the Python package"
            hint = "add --python"
        else:
            continue
        diagnostics.error("E0910", message, None, hint=hint)
        return
    if "jax" in frameworks:
        for f, reason in reasons_against_jax(functions):
            message = f"JAX cannot call '{f.func.name}': {reason}"
            diagnostics.warning("W1040", message, f.span)


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
    return next((reason for reason in map(_why_no_attribute, arguments) if reason), "")


def _why_no_attribute(a: Argument) -> str:
    if a.type.is_tensor_like() or a.default is not None or isinstance(a.type, OptionalType):
        return ""
    return "" if _is_attribute(a.type) else f"it needs an argument of type {a.type}"


def _is_attribute(type: Type) -> bool:
    if isinstance(type, ListType):
        return isinstance(type.elem, BaseType) and type.elem.name in _LISTED
    return isinstance(type, BaseType) and type.name in _ATTRIBUTES
