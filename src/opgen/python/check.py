"""Operators for which no Python binding can be made (E076x), found before any is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from opgen import data
from opgen.cpp.names import cpp_name
from opgen.diagnostics import Diagnostics
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.codes import E0760, E0761, E0762, E0763, E0764, E0765, E0766
from opgen.python.overloads import functions_by_name, without_outputs
from opgen.python.package import package_declarations
from opgen.python.python_types import NoPythonSignature
from opgen.python.signatures import REQUIRES_GRAD, Spellings, field_names

_UNBOUND = tuple(re.compile(pattern) for pattern in data.read_names("python_unbound.txt"))
# Overloads that a Tensor argument takes the place of, since it also takes numbers.
_UNBOUND_OVERLOADS = frozenset(
    f"{name}{mark}.Scalar" for name in ("add", "sub", "mul", "div") for mark in ("", "_")
)

# What the package has beside what its stub declares: its extension module, its named tuples.
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
        # Of older versions.
        *("int[]", f"{_T}, {_T}, {_T}, {_T}, int, int, int, int, {_T}"),
    }
)


def check_python(
    functions: Iterable[NativeFunction], spellings: Spellings, diagnostics: Diagnostics
) -> None:
    """Report every operator that a Python binding is wanted for and cannot be made of."""
    bound = [f for f in functions if is_bound(f)]
    sound = [f for f in bound if _is_sound(f, diagnostics)]
    _check_modules(bound, diagnostics)
    for (method, *_), group in functions_by_name(sound):
        _check_overloads(group, method, spellings, diagnostics)


def is_bound(f: NativeFunction) -> bool:
    """Whether Python finds `f` by a binding that is made of its schema."""
    if "generated" in f.tags and "view_copy" not in f.tags:
        return False
    if f.namespace != "aten":
        return True
    if str(f.func.name) in _UNBOUND_OVERLOADS:
        return False
    name = cpp_name(f.func)
    return not any(pattern.fullmatch(name) for pattern in _UNBOUND)


def _is_sound(f: NativeFunction, diagnostics: Diagnostics) -> bool:
    before = len(diagnostics)
    _check_names(f, diagnostics)
    _check_types(f, diagnostics)
    return len(diagnostics) == before


def _check_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    if any(a.name == REQUIRES_GRAD for a in f.func.arguments.flat_all):
        message = f"an argument cannot be called {REQUIRES_GRAD}: Python adds it itself"
        diagnostics.error(E0760, message, f.argument_name_span(REQUIRES_GRAD))
    try:
        field_names(f.func.returns)
    except NoPythonSignature as problem:
        index = next(i for i, r in enumerate(f.func.returns) if r.name is None)
        diagnostics.error(E0761, str(problem), f.return_span(index), hint="this has no name")


def _check_modules(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    within = [f for f in functions if f.python_module]
    if not within:
        return
    taken = {str(f.func.name.name) for f in functions if not f.python_module}
    taken |= {one.name for one in package_declarations()}
    for f in within:
        module = f.python_module
        assert module is not None
        if "." in module:
            problem = "is in another submodule"
        elif module in _FILES or module.startswith("__"):
            problem = "has the name of a file of every package"
        elif module in taken:
            problem = "has the name of something else in the package"
        else:
            continue
        hint = "give it another name"
        diagnostics.error(E0766, f"submodule '{module}' {problem}", f.span, hint=hint)


def _check_types(f: NativeFunction, diagnostics: Diagnostics) -> None:
    returned = ", ".join(str(r.type) for r in f.func.returns)
    if returned not in _WRAPPED:
        message = f"Python bindings cannot return ({returned})"
        diagnostics.error(E0762, message, f.return_span(0))
    for argument in f.func.arguments.flat_all:
        if not _is_parsed(argument.type):
            message = f"Python's argument parser has no type '{argument.type}'"
            diagnostics.error(E0763, message, f.argument_type_span(argument.name))


def _is_parsed(type: Type) -> bool:
    match type:
        case BaseType(name):
            return name in _PARSED
        case OptionalType(BaseType(BaseTy.Generator)):
            return True
        case OptionalType(elem):
            return _is_parsed(elem)
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
        key = _without_outputs(f, spellings, method)
        if key is None:
            continue
        known = (outs if f.func.is_out_fn() else bases).setdefault(key, f)
        if known is not f:
            message = f"'{f.func.name}' has the Python signature of '{known.func.name}': {key}"
            labels = [(known.span, "the same")]
            diagnostics.error(E0765, message, f.span, labels=labels)
    for key, f in outs.items():
        if key not in bases:
            message = f"there is no {key} that '{f.func.name}' could be the out variant of"
            diagnostics.error(E0764, message, f.span)


def _without_outputs(f: NativeFunction, spellings: Spellings, method: bool) -> str | None:
    """The signature by which overloads are told apart; None if there is none, which E07xx say."""
    try:
        return without_outputs(f, spellings, method=method)
    except NoPythonSignature:
        return None
