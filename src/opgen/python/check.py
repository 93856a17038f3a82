"""Report operators for which no Python binding can be generated (E076x)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from opgen import data
from opgen.cpp.names import cpp_name
from opgen.diagnostics import Diagnostics
from opgen.model.native_function import NativeFunction
from opgen.model.profile import ATEN
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.layout import package_declarations
from opgen.python.python_types import NoPythonSignature
from opgen.python.signatures import (
    REQUIRES_GRAD,
    Spellings,
    field_names,
    functions_by_name,
    without_outputs,
)

# Overloads that are not bound: the one with a Tensor also accepts numbers.
_UNBOUND_OVERLOADS = frozenset(
    f"{name}{mark}.Scalar" for name in ("add", "sub", "mul", "div") for mark in ("", "_")
)

# Files of the package besides its stub: the extension module and the named tuples.
_FILES = frozenset({"_C", "return_types"})

_PARSED = frozenset(
    {
        *(BaseTy.Tensor, BaseTy.Stream, BaseTy.Storage, BaseTy.Scalar, BaseTy.ScalarType),
        *(BaseTy.Device, BaseTy.DeviceIndex, BaseTy.int, BaseTy.SymInt, BaseTy.bool),
        *(BaseTy.float, BaseTy.str, BaseTy.Layout, BaseTy.MemoryFormat, BaseTy.Dimname),
    }
)
_PARSED_LISTS = frozenset({"Tensor", "Tensor?", "int", "float", "SymInt", "Scalar", "Dimname"})

_T = "Tensor"
_WRAPPED = frozenset(
    {
        *(_T, "Scalar", "bool", "int", "float", "QScheme", "ScalarType", "Stream", "Tensor[]", ""),
        *(", ".join([_T] * count) for count in range(2, 7)),
        *(f"{_T}, {_T}, {_T}, int", f"{_T}, {_T}, float, int", f"{_T}, {_T}, {_T}, {_T}, int"),
        *(f"{_T}, {_T}, float, {_T}, int", "float, int", f"{_T}, Tensor[]"),
        f"{_T}, {_T}, {_T}, {_T}, SymInt, SymInt, {_T}, {_T}, {_T}",
        # Returns of older versions of PyTorch.
        *("int[]", f"{_T}, {_T}, {_T}, {_T}, int, int, int, int, {_T}"),
    }
)


def check_python(
    functions: Iterable[NativeFunction], spellings: Spellings, diagnostics: Diagnostics
) -> None:
    """Report each operator that should have a Python binding, but cannot."""
    bound = [f for f in functions if is_bound(f)]
    sound = []
    for f in bound:
        before = len(diagnostics)
        _check_names(f, diagnostics)
        _check_types(f, diagnostics)
        if len(diagnostics) == before:
            sound.append(f)
    _check_modules(bound, diagnostics)
    for (method, *_), group in functions_by_name(sound):
        _check_overloads(group, method, spellings, diagnostics)


def is_bound(f: NativeFunction) -> bool:
    """Return whether `f` has a Python binding that is generated from its schema."""
    if "generated" in f.tags and "view_copy" not in f.tags and not f.is_library:
        return False
    if f.namespace != ATEN:
        return True
    if str(f.func.name) in _UNBOUND_OVERLOADS:
        return False
    return _unbound_names().fullmatch(cpp_name(f.func)) is None


@cache
def _unbound_names() -> re.Pattern[str]:
    # Compiled when it is needed: that takes 2 ms.
    return re.compile("|".join(data.read_names("python_unbound.txt")))


def _check_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    if any(a.name == REQUIRES_GRAD for a in f.func.arguments.flat_all):
        message = f"an argument cannot be named {REQUIRES_GRAD}: the Python binding adds one"
        diagnostics.error("E0760", message, f.argument_name_span(REQUIRES_GRAD))
    try:
        field_names(f.func.returns)
    except NoPythonSignature as problem:
        index = next(i for i, r in enumerate(f.func.returns) if r.name is None)
        diagnostics.error("E0761", str(problem), f.return_span(index), hint="this one has no name")


def _check_modules(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    in_modules = [f for f in functions if f.python_module]
    if not in_modules:
        return
    names = {str(f.func.name.name) for f in functions if not f.python_module}
    names |= {declaration.name for declaration in package_declarations()}
    for f in in_modules:
        module = f.python_module
        assert module is not None
        if "." in module:
            problem = "is inside another submodule"
        elif module in _FILES or module.startswith("__"):
            problem = "has the name of a file that every package has"
        elif module in names:
            problem = "has the same name as something else in the package"
        else:
            continue
        hint = "rename it"
        diagnostics.error("E0766", f"submodule '{module}' {problem}", f.span, hint=hint)


def _check_types(f: NativeFunction, diagnostics: Diagnostics) -> None:
    returns = ", ".join(str(r.type) for r in f.func.returns)
    if returns not in _WRAPPED:
        message = f"Python bindings cannot return ({returns})"
        diagnostics.error("E0762", message, f.return_span(0))
    for argument in f.func.arguments.flat_all:
        if not _is_parsed(argument.type):
            message = f"Python's argument parser has no type '{argument.type}'"
            diagnostics.error("E0763", message, f.argument_type_span(argument.name))


def _is_parsed(type: Type) -> bool:
    match type:
        case BaseType(name):
            return name in _PARSED
        case OptionalType(BaseType(BaseTy.Generator)):
            return True
        case OptionalType(elem):
            return _is_parsed(elem)
        case ListType(BaseType(BaseTy.bool), size):
            return size is not None
        case ListType(elem):
            return str(elem) in _PARSED_LISTS
        case _:
            return False


def _check_overloads(
    functions: Sequence[NativeFunction],
    method: bool,
    spellings: Spellings,
    diagnostics: Diagnostics,
) -> None:
    bases: dict[str, NativeFunction] = {}
    outs: dict[str, NativeFunction] = {}
    for f in functions:
        try:
            key = without_outputs(f, spellings, method=method)
        except NoPythonSignature:
            continue  # E07xx report it.
        first = (outs if f.func.is_out_fn() else bases).setdefault(key, f)
        if first is not f:
            message = f"'{f.func.name}' has the same Python signature as '{first.func.name}': {key}"
            labels = [(first.span, "the other one")]
            diagnostics.error("E0765", message, f.span, labels=labels)
    for key, f in outs.items():
        if key not in bases:
            message = f"'{f.func.name}' is an out variant, but there is no operator {key}"
            diagnostics.error("E0764", message, f.span)
