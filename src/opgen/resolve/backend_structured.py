"""Find the structured kernels of a backend file, and the operators whose out kernel serves all variants."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.model.backend import (
    BackendFile,
    BackendIndex,
    BackendStructured,
    StructuredRoute,
    WrittenName,
)
from opgen.model.cpp_identifier import cpp_identifier
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import TENSOR
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import NativeFunctionsGroup, Registry


def resolve_structured(
    file: BackendFile, registry: Registry, diagnostics: Diagnostics
) -> tuple[BackendStructured, ...]:
    """Return the structured kernels that `file` lists, in the order of the registry's groups."""
    if not file.structured:
        return ()
    found: dict[str, BackendStructured] = {}
    primaries = {str(g.out.func.name): g for g in registry.groups if g.structured}
    for route, name in file.structured:
        group = primaries.get(name.text)
        if group is None:
            _report_no_primary(name, registry, diagnostics)
        elif name.text in found:
            message = f"'{name.text}' is listed already"
            labels = [(found[name.text].span, "the first time")]
            diagnostics.error("E0815", message, name.span, labels=labels)
        else:
            found[name.text] = _structured(group, route, name, diagnostics)
    return tuple(found[name] for name in primaries if name in found)


def _structured(
    group: NativeFunctionsGroup,
    route: StructuredRoute,
    name: WrittenName,
    diagnostics: Diagnostics,
) -> BackendStructured:
    installed = None
    if route is StructuredRoute.installed:
        installed = _shared_kernel(group)
        if installed is None:
            message = f"the kernels of '{name.text}' are for one backend each"
            labels = [(group.out.spans.value("dispatch"), "no kernel of several keys here")]
            hint = f"write a kernel of your own: list it under '{StructuredRoute.own_impl.value}'"
            diagnostics.error("E0816", message, name.span, labels=labels, hint=hint)
    kernel = cpp_identifier(group.out.func.name.unambiguous_name)
    return BackendStructured(group, route, kernel, installed, name.span)


def _shared_kernel(group: NativeFunctionsGroup) -> Kernel | None:
    """Return the CPU kernel, if it calls a dispatch stub for the part that depends on the device.

    Kernels that are named for a further key do, and those of element-wise loops.
    """
    cpu = group.out.find_kernel(DispatchKey.CPU)
    if cpu is None or not cpu.structured:
        return None
    shared = any(kernel == cpu for key, kernel in group.out.dispatch if key != DispatchKey.CPU)
    return cpu if shared or group.out.ufunc_inner_loop else None


def _report_no_primary(name: WrittenName, registry: Registry, diagnostics: Diagnostics) -> None:
    f = next((f for f in registry.functions if str(f.func.name) == name.text), None)
    if f is None:
        known = Vocabulary({str(f.func.name): f for f in registry.functions})
        report_unknown(name, known, diagnostics)
        return
    group = registry.group_of(f)
    if group is not None and group.structured:
        message = f"'{name.text}' is not an out variant"
        hint = f"did you mean '{group.out.func.name}'? It stands for all its variants"
    else:
        message = f"'{name.text}' is not structured"
        hint = "list it under 'supported'"
    labels = [(f.span, "defined here")]
    diagnostics.error("E0814", message, name.span, labels=labels, hint=hint)


def report_unknown(name: WrittenName, known: Vocabulary, diagnostics: Diagnostics) -> None:
    hint = known.did_you_mean(name.text)
    overloads = [k for k in known.names if k.partition(".")[0] == name.text]
    if "::" in name.text:
        hint = "written without the namespace"
    elif overloads:
        hint = f"did you mean '{min(overloads)}'?"
    message = f"there is no operator '{shorten(name.text)}'"
    diagnostics.error("E0808", message, name.span, hint=hint)


def check_listed_once(
    structured: Iterable[BackendStructured],
    indices: Iterable[BackendIndex | None],
    registry: Registry,
    diagnostics: Diagnostics,
) -> None:
    """Report kernels of operators that a structured kernel already serves."""
    members = {f.full_name: s for s in structured for f in s.group.functions()}
    for kernel in (k for index in indices if index is not None for k in index.kernels):
        found = members.get(kernel.function.full_name)
        if found is not None:
            name = kernel.function.func.name
            message = (
                f"'{name}' is made from the structured kernel of '{found.group.out.func.name}'"
            )
            labels = [(found.span, "listed here")]
            diagnostics.error("E0815", message, kernel.span, labels=labels)


def check_out_as_primary(
    file: BackendFile, registry: Registry, diagnostics: Diagnostics
) -> frozenset[str]:
    """Return the full names of the operators under 'out_as_primary'. Report those from which no variant can be made."""
    named = {str(f.func.name): f for f in registry.functions}
    found = {}
    for name in file.out_as_primary:
        f = named.get(name.text)
        reason = None if f is None else _why_not_primary(f, registry)
        if reason is not None:
            message = f"'{name.text}' cannot be primary: {reason}"
            diagnostics.error("E0817", message, name.span)
        elif f is not None:
            found[f.full_name] = f
    return frozenset(found)


def _why_not_primary(f: NativeFunction, registry: Registry) -> str | None:
    group = registry.group_of(f)
    if not f.func.is_out_fn() or group is None:
        return "it is not an out variant of another operator"
    if group.structured:
        return "it is structured, so that all variants are made from any out kernel"
    arguments = group.functional.func.arguments
    if any(a.type != TENSOR for a in f.func.arguments.out) or not f.func.returns:
        return "it does not write plain tensors that it returns"
    if arguments.tensor_options is not None:
        return "it takes tensor options, so a new tensor need not be like one of its arguments"
    if not any(a.type == TENSOR for a in arguments.flat_non_out):
        return "it has no tensor argument from which a new tensor could take its options"
    return None
