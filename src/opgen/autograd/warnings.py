"""Warn about gradients that are missing: of arguments, and of whole variants.

Operators of torchgen's profile are left out: PyTorch's file has many of them, and each is intended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.kernels import AutogradKernel, autograd_kernel
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction


def warn_of_missing(functions: Sequence[DifferentiableFunction], diagnostics: Diagnostics) -> None:
    """Report gradients that nothing computes although the operator, or another variant of it, has formulas."""
    own = [fn for fn in functions if fn.func.is_library]
    for fn in own:
        for info in fn.infos.values():
            if info.func is fn.func and info.has_derivatives:
                _warn_of_arguments(fn.func, info, diagnostics)
    _warn_of_variants(own, diagnostics)


def _warn_of_arguments(
    f: NativeFunction, info: DifferentiabilityInfo, diagnostics: Diagnostics
) -> None:
    for argument in info.unmentioned_tensors:
        message = f"the tensor '{argument.name}' of '{f.full_name}' has no formula"
        labels = ((f.argument_span(argument.name), "this argument"),)
        hint = f"add its formula, or '{argument.name}: non_differentiable'"
        span = info.entry.name.span
        diagnostics.warning("W1240", message, span, labels=labels, hint=hint)


def _warn_of_variants(
    functions: Sequence[DifferentiableFunction], diagnostics: Diagnostics
) -> None:
    with_formulas: dict[str, DifferentiableFunction] = {}
    for fn in functions:
        if fn.has_derivatives:
            with_formulas.setdefault(fn.func.scoped_root, fn)
    for fn in _without_formulas(functions):
        f, other = fn.func, with_formulas.get(fn.func.scoped_root)
        if other is not None:
            message = f"'{f.full_name}' has no formulas, but '{other.func.full_name}' does"
            labels = ((f.span, "this operator"),)
            hint = f"add an entry for '{f.full_name}'"
            info = next(info for info in other.infos.values() if info.has_derivatives)
            span = info.entry.name.span
            diagnostics.warning("W1241", message, span, labels=labels, hint=hint)


def _without_formulas(
    functions: Sequence[DifferentiableFunction],
) -> Iterator[DifferentiableFunction]:
    """Yield the operators whose gradient is an error, unless the author has a kernel for it."""
    for fn in functions:
        f = fn.func
        is_variant = f.func.kind() is not SchemaKind.out and "generated" not in f.tags
        records = any(key.name.startswith(DispatchKey.Autograd.name) for key, _ in f.dispatch)
        if is_variant and not records and autograd_kernel(fn) is AutogradKernel.not_implemented:
            yield fn
