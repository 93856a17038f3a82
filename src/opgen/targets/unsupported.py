"""Report operators and backends that a target has no files for, before any file is built."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.model.backend import BackendFile, ExternalBackend
from opgen.model.native_function import AliasAnalysisKind, KernelSource, Variant
from opgen.model.registry import Registry
from opgen.parse import builtin_tags
from opgen.targets.base import FileKind, Target
from opgen.targets.releases import UNREGISTERED_TAGS


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
    if target.cpp.tensor_header is not None:
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
            diagnostics.warning(
                "W1001",
                f"'{f.func.name}' cannot be a method: class Tensor belongs to another library",
                f.spans.value("variants"),
            )


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
