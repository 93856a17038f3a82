"""Report what a target has no files for, cannot functionalize or cannot express, before any file is built.

Functionalization replaces operators that write their arguments, and views, by operators that return new tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from keyword import iskeyword

from opgen import data
from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.python_formulas import PythonNode, Refusal, python_node, recorded_info
from opgen.cpp.names import cpp_name
from opgen.diagnostics import Diagnostics
from opgen.model.backend import BackendFile, ExternalBackend
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.function_schema import TENSOR
from opgen.model.native_function import AliasAnalysisKind, KernelSource, NativeFunction, Variant
from opgen.model.registry import NativeFunctionsViewGroup, Registry
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.parse.files.native_functions import builtin_tags
from opgen.resolve.functional_forms import views_first_argument
from opgen.targets.base import (
    STABLE_GENERATOR,
    STABLE_TAGS,
    TAG_EFFECTS,
    UNREGISTERED_TAGS,
    FileKind,
    Release,
    RequiredPackage,
    Target,
    dotted,
)


def report_not_installed(registry: Registry, target: Target, diagnostics: Diagnostics) -> None:
    """Report the first operator that is not in the library for which `target` generates backends."""
    if target.installed is None:
        return
    namespaces = target.installed.namespaces
    f = next((f for f in registry.functions if f.namespace not in namespaces), None)
    if f is not None:
        message = f"'{f.full_name}' is not one of {target.name}'s own operators"
        hint = "name the backend's kernel under 'dispatch', without --backend-yaml"
        diagnostics.error("E0756", message, f.span, hint=hint)


def report_operators(registry: Registry, target: Target, diagnostics: Diagnostics) -> None:
    """Report operators, or parts of them, for which `target` has no files."""
    if not target.cpp.base_tensor:
        report_methods(registry, diagnostics)
    known = None if target.schema.knows_all_tags else frozenset(builtin_tags().names)
    for f in registry.functions:
        if f.namespace in target.schema.own_namespaces:
            message = f"'{f.full_name}' is in one of {target.name}'s own namespaces"
            hint = f"write `func: mylib::{f.func.name}(...)`, with your own namespace"
            diagnostics.error("E0753", message, f.span, hint=hint)
        if f.ufunc_inner_loop and not target.schema.makes_ufuncs:
            message = f"target {target.name} does not support inner loops"
            diagnostics.error("E0754", message, f.spans.key("ufunc_inner_loop"))
        for key, kernel in f.dispatch if not target.dispatch.has_python_kernels else ():
            if kernel.source is KernelSource.python:
                message = f"target {target.name} does not support kernels in Python"
                hint = "write a C++ kernel, or use target torch"
                diagnostics.error("E0758", message, f.spans.kernel(key), hint=hint)
        kind = f.alias_analysis
        if kind is AliasAnalysisKind.conservative and not target.schema.has_alias_analysis:
            message = f"target {target.name} cannot register a conservative alias analysis"
            hint = "say in the schema what it writes, as in 'Tensor(a!) out', or use target torch"
            diagnostics.error("E0759", message, f.spans.value("alias_analysis"), hint=hint)
        for tag in () if known is None else sorted(f.tags - known):
            message = f"target {target.name} does not know the tag '{tag}'"
            diagnostics.error("E0755", message, f.spans.value("tags"))
        for tag in sorted(f.tags - target.schema.registered_tags(f)):
            span = f.spans.item("tags", tag)
            if span.text == tag:  # written, not derived
                message = f"the tag '{tag}' is not registered: {UNREGISTERED_TAGS[tag]}"
                diagnostics.warning("W0757", message, span)


def report_methods(registry: Registry, diagnostics: Diagnostics) -> None:
    """Report methods, for a library that uses another library's class Tensor."""
    for f in registry.functions:
        if Variant.method in f.variants:
            message = f"'{f.func.name}' cannot be a method: class Tensor belongs to another library"
            diagnostics.warning("W1001", message, f.spans.value("variants"))


def report_backend(
    target: Target, file: BackendFile, backend: ExternalBackend, diagnostics: Diagnostics
) -> None:
    """Report an external backend if `target` has no files for it, or lacks something that it asks for."""
    span, fallback = file.backend.span, backend.cpu_fallback
    if target.installed is not None and backend.structured and backend.cpp_namespace == "at":
        message = f"target {target.name} has classes of the same names in this namespace"
        hint = "use your own namespace, or one within it: 'at::mine'"
        diagnostics.error("E0819", message, file.cpp_namespace.span, hint=hint)
    if target.plan.kinds and FileKind.BACKEND not in target.plan.kinds:
        message = f"target {target.name} does not support external backends"
        diagnostics.error("E0813", message, span)
    elif fallback and target.installed is None:
        message = f"target {target.name} has no CPU fallback"
        diagnostics.error("E0818", message, span, hint="leave out 'cpu_fallback'")


_WRITES_ALONE = frozenset(row[0] for row in data.read_exempt("V166"))


def report_unfunctionalizable(registry: Registry, diagnostics: Diagnostics) -> None:
    """Report operators for which functionalization has no replacement."""
    for group in registry.view_groups:
        if not group.composite and not group.view.is_library:
            _check_view(group, diagnostics)
    grouped = {id(f) for g in registry.groups for f in g.functions()}
    grouped |= {id(f) for g in registry.view_groups for f in g.functions()}
    for f in registry.functions:
        if id(f) not in grouped and not f.is_library:
            _check_alone(f, diagnostics)


def _check_view(group: NativeFunctionsViewGroup, diagnostics: Diagnostics) -> None:
    if group.view_copy is None:
        message = f"nothing replaces the view '{group.view.func.name}'"
        diagnostics.error("E0752", message, group.view.span)
        return
    for f in (group.view, group.view_inplace):
        arguments = () if f is None else f.func.arguments.flat_non_out
        aliased = tuple(a for a in arguments if a.annotation is not None)
        if f is not None and not (aliased == arguments[:1] and arguments[0].type == TENSOR):
            message = f"'{f.func.name}' does not view its first argument alone"
            diagnostics.error("E0750", message, f.span)


def _check_alone(f: NativeFunction, diagnostics: Diagnostics) -> None:
    names = (str(f.func.name), str(f.func.name.name))
    written = next((a for a in f.func.arguments.flat_all if a.is_write), None)
    if (
        written is None
        or f.has_composite_implicit_autograd_kernel
        or not _WRITES_ALONE.isdisjoint(names)
    ):
        return
    message = f"'{f.func.name}' writes '{written.name}', and no functional variant replaces it"
    labels = [(f.argument_type_span(written.name), "written here")]
    diagnostics.error("E0751", message, f.span, labels=labels)


_RELEASE = re.compile(r"(\d+)\.(\d+)")
_PASSED = frozenset(
    {
        *(BaseTy.Tensor, BaseTy.Generator, BaseTy.ScalarType, BaseTy.Layout, BaseTy.Device),
        *(BaseTy.MemoryFormat, BaseTy.int, BaseTy.SymInt, BaseTy.DeviceIndex, BaseTy.float),
        *(BaseTy.bool, BaseTy.str, BaseTy.Scalar),
    }
)


def find_release(given: str | None, required: RequiredPackage, diagnostics: Diagnostics) -> Release:
    """Return the oldest release that a library must work with: the `given` one, or the oldest that is possible.

    Reports E1301 and returns the latter if `given` is not such a release.
    """
    if given is None:
        return required.oldest
    found = _RELEASE.fullmatch(given)
    release = (int(found[1]), int(found[2])) if found else None
    if release is None or release < required.oldest or release[0] != required.oldest[0]:
        message = f"'{given}' is not a release that torch-stable supports"
        hint = f"name {dotted(required.oldest)} or a later one, or leave out --torch"
        diagnostics.error("E1301", message, None, hint=hint)
        return required.oldest
    return release


def report_stable(
    registry: Registry,
    target: Target,
    release: Release,
    diagnostics: Diagnostics,
    *,
    python: bool,
) -> None:
    """Report what the stable functions of `release` cannot do for these operators.

    `python` is whether the library is a Python package, which does some of it.
    """
    for f in registry.functions:
        if "generated" in f.tags:
            continue
        _report_types(f, release, diagnostics)
        _report_results(f, diagnostics, python=python)
        _report_keywords(f, diagnostics)
        if not python and release < STABLE_TAGS:
            _report_tags(f, target, release, diagnostics)
        for key, kernel in f.dispatch:
            if kernel.name == "fallthrough":
                message = "PyTorch's stable functions have no fallthrough kernels"
                diagnostics.error(
                    "E1307", message, f.spans.kernel(key), hint=f"leave out the row for {key}"
                )


def report_missing_package(
    target: Target, functions: Sequence[DifferentiableFunction], diagnostics: Diagnostics
) -> None:
    """Report the first formula, if there is any, for a library that is generated without a Python package."""
    infos = (info for fn in functions for info in fn.infos.values())
    first = min((info.entry for info in infos), key=lambda entry: entry.span.start, default=None)
    if first is not None:
        message = (
            f"gradients of target {target.name} need the library's Python package, but there are formulas"
            f" for '{first.name.text}'"
        )
        hint = "make it a package (--python), or move this file to another folder"
        diagnostics.error("E1309", message, first.name.span, hint=hint)


def report_formulas_without_python(
    target: Target,
    functions: Sequence[DifferentiableFunction],
    declared: AbstractSet[tuple[str, str]],
    diagnostics: Diagnostics,
) -> None:
    """Report the formulas that have no form in Python. `declared` are the functions of the author's headers."""
    reported = set()
    for fn in functions:
        for key, info in fn.infos.items():
            if key != DEFAULT_KEY and info.has_derivatives:
                message = f"target {target.name} has no formulas for {key} alone"
                hint = "write one formula for all backends, without 'dispatch'"
                diagnostics.error("E1309", message, info.derivatives[0].place.span, hint=hint)
    for info, node in _nodes(functions, declared):
        if isinstance(node, Refusal) and id(info) not in reported:
            reported.add(id(info))
            hint = "make what it computes an operator of the library, and call that"
            diagnostics.error("E1309", node.message, node.span, hint=hint)


def operators_of_pytorch(
    functions: Sequence[DifferentiableFunction], declared: AbstractSet[tuple[str, str]]
) -> Iterator[tuple[DifferentiabilityInfo, frozenset[str]]]:
    """Yield the gradients that Python records, each with the names of PyTorch's operators that its formulas call."""
    for info, node in _nodes(functions, declared):
        if not isinstance(node, Refusal):
            called = (name.partition(".") for name in node.functions)
            yield info, frozenset(name for scope, _, name in called if scope == "aten")


def _nodes(
    functions: Sequence[DifferentiableFunction], declared: AbstractSet[tuple[str, str]]
) -> Iterator[tuple[DifferentiabilityInfo, PythonNode | Refusal]]:
    own: dict[str, set[str]] = {}
    for fn in functions:
        own.setdefault(fn.func.namespace, set()).add(str(cpp_name(fn.func.func)))
    for fn in functions:
        info = recorded_info(fn)
        if info is not None:
            yield info, python_node(fn, info, own[fn.func.namespace], declared)


def _report_types(f: NativeFunction, release: Release, diagnostics: Diagnostics) -> None:
    arguments = ((a.type, f.argument_type_span(a.name)) for a in f.func.arguments.flat_all)
    returns = ((r.type, f.return_span(i)) for i, r in enumerate(f.func.returns))
    for is_return, places in ((False, arguments), (True, returns)):
        for type, span in places:
            base = _base(type)
            if base not in _PASSED:
                message = f"PyTorch's stable functions do not pass '{type}'"
                hint = "use tensors, numbers, strings and lists of them, or --target torch"
                diagnostics.error("E1304", message, span, hint=hint)
            elif base is BaseTy.Generator and release < STABLE_GENERATOR:
                message = (
                    f"PyTorch's stable functions pass a Generator since {dotted(STABLE_GENERATOR)},"
                    f" and the library is to work with {dotted(release)}"
                )
                hint = f"take a seed, or use --torch {dotted(STABLE_GENERATOR)}"
                diagnostics.error("E1303", message, span, hint=hint)
            elif base is BaseTy.Scalar and is_return:
                message = "PyTorch's stable functions do not return a Scalar"
                diagnostics.error("E1306", message, span, hint="return a float, an int or a Tensor")
            elif base is BaseTy.Scalar:
                message = f"'{f.func.name}' is called through Python because of its number"
                hint = "if it is always an int or a float, write that type"
                diagnostics.warning("W1305", message, span, hint=hint)


def _report_results(f: NativeFunction, diagnostics: Diagnostics, *, python: bool) -> None:
    if f.has_composite_implicit_autograd_kernel:
        return
    written = [r.is_write for r in f.func.returns]
    optional = {a.name for a in f.func.arguments.flat_all if isinstance(a.type, OptionalType)}
    view = next((i for i, r in enumerate(f.func.returns) if r.annotation and not r.is_write), None)
    if view is not None and not python:
        message = f"no gradient flows through the view '{f.func.name}'"
        hint = "write a CompositeImplicitAutograd kernel, or allow this warning"
        if views_first_argument(f, several=True):
            hint = f"make it a package (--python), {hint}"
        diagnostics.warning("W1311", message, f.return_span(view), hint=hint)
    for i, name in enumerate(f.func.aliased_return_names()):
        if not written[i] or (all(written) and name not in optional):
            continue
        reason = "beside new ones" if name not in optional else "which the caller may leave out"
        message = f"'{f.func.name}' returns '{name}', {reason}: PyTorch cannot compile a call"
        hint = "leave it out of the results: the caller has it"
        diagnostics.error("E1310", message, f.return_span(i), hint=hint)


def _report_keywords(f: NativeFunction, diagnostics: Diagnostics) -> None:
    for a in f.func.arguments.flat_all:
        if iskeyword(a.name):
            message = f"'{a.name}' is a keyword of Python: PyTorch cannot compile calls of '{f.func.name}'"
            diagnostics.error(
                "E1312", message, f.argument_name_span(a.name), hint="choose another name"
            )


def _report_tags(
    f: NativeFunction, target: Target, release: Release, diagnostics: Diagnostics
) -> None:
    for tag in sorted(target.schema.registered_tags(f)):
        span = f.spans.item("tags", tag)
        if span.text == tag:  # written, not derived
            effect = TAG_EFFECTS.get(tag, "nothing in PyTorch depends on it")
            message = f"PyTorch {dotted(release)} does not see the tag '{tag}' of a library without --python: {effect}"
            hint = f"make it a package (--python), or use --torch {dotted(STABLE_TAGS)}"
            diagnostics.warning("W1302", message, span, hint=hint)


def _base(type: Type) -> BaseTy | None:
    """Return the type of which this one is an optional or a list; None if it is made of other types."""
    while isinstance(type, OptionalType | ListType):
        type = type.elem
    return type.name if isinstance(type, BaseType) else None
