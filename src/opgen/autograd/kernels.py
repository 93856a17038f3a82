"""Determine which kernels record the gradients of an operator, and which arguments, outputs, variants and backends have none.

Source of the rules: torchgen, see docs/reference/torchgen-differences.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache

from msgspec import Struct

from opgen import data
from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.formula_checks import called_functions, called_members
from opgen.cpp.names import cpp_name, native_name, return_names
from opgen.diagnostics import Diagnostics
from opgen.model.backend import BackendIndex
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.profile import ATEN


class AutogradKernel(Enum):
    """What is registered for an operator at the Autograd keys.

    `formula`: it records a node. `derived`: it calls the operator's kernels, and records nothing. `not_implemented`: as
    `derived`, and the gradient of its outputs is an error.
    """

    formula = auto()
    derived = auto()
    not_implemented = auto()


class InplaceOrViewKernel(Enum):
    """What is registered for an operator at ADInplaceOrView.

    `view`: its output is marked as a view. `inplace`: the versions of the tensors that it writes are counted.
    """

    view = auto()
    inplace = auto()


@cache
def _rows() -> frozenset[tuple[str, ...]]:
    """Return the rows of the table: a rule, and one of PyTorch's operators."""
    return frozenset(data.read_rows("autograd.txt"))


def _is_listed(f: NativeFunction, name: str, *rules: str) -> bool:
    return f.namespace == ATEN and any((rule, name) in _rows() for rule in rules)


def autograd_kernel(fn: DifferentiableFunction) -> AutogradKernel | None:
    """Return what is registered at the Autograd keys. None for operators that are made of other operators."""
    f = fn.func
    if not _has_kernel(fn):
        return None
    if fn.has_derivatives:
        return AutogradKernel.formula
    if fn.infos or not differentiable_outputs(fn) or _records_nothing(f):
        return AutogradKernel.derived
    return AutogradKernel.not_implemented


def has_no_gradient(fn: DifferentiableFunction) -> bool:
    """Return whether the formulas of `fn` declare that none of its outputs, or of its arguments, has a gradient."""
    info = fn.infos.get(DEFAULT_KEY)
    if info is None or fn.has_derivatives:
        return False
    tensors = {a.name for a in fn.func.func.arguments.flat_all if a.type.is_tensor_like()}
    return not differentiable_outputs(fn) or tensors.issubset(info.non_differentiable_arg_names)


def writes_without_formula(fn: DifferentiableFunction) -> bool:
    """Return whether `fn` writes tensors of which no formula says anything, and is no out variant.

    PyTorch's rules give it the kernel `derived` if it returns nothing that has a gradient.
    """
    f = fn.func
    return (
        f.func.is_mutable
        and f.func.kind() is not SchemaKind.out
        and not fn.infos
        and not _records_nothing(f)
    )


def _records_nothing(f: NativeFunction) -> bool:
    return (
        _is_listed(f, str(f.func.name.name), "resets_accumulator")
        or _is_listed(f, f.root_name, "no_gradient")
        or _is_listed(f, str(cpp_name(f.func)), "changes_storage")
        or _is_listed(f, str(native_name(f.func)), "shares_storage")
    )


def _has_kernel(fn: DifferentiableFunction) -> bool:
    f = fn.func
    if not f.is_abstract and not fn.has_derivatives:
        return False
    return not _is_listed(f, str(cpp_name(f.func)), "by_hand")


def inplace_or_view_kernel(fn: DifferentiableFunction) -> InplaceOrViewKernel | None:
    """Return what is registered at ADInplaceOrView; None for operators that write nothing and return no view."""
    f = fn.func
    if not _has_kernel(fn):
        return None
    is_listed = _is_listed(f, f.root_name, "view", "may_view")
    if is_listed if f.namespace == ATEN else f.is_view_op:
        return InplaceOrViewKernel.view
    writes = f.func.kind() in (SchemaKind.inplace, SchemaKind.out)
    return InplaceOrViewKernel.inplace if writes and f.func.returns else None


def differentiable_outputs(fn: DifferentiableFunction, key: str = DEFAULT_KEY) -> tuple[str, ...]:
    """Return the names of the outputs that can have a gradient by the formulas for `key`."""
    returns = fn.func.func.returns
    names = return_names(fn.func)
    info = fn.infos.get(key)
    if info is not None and info.output_differentiability is not None:
        return tuple(n for n, flag in zip(names, info.output_differentiability) if flag)
    without = () if info is None else info.non_differentiable_arg_names
    found = tuple(n for n, r in zip(names, returns) if r.type.is_tensor_like() and n not in without)
    is_single = info is not None and any(d.formula.uses("grad") for d in info.derivatives)
    return found[:1] if is_single else found


def warn_of_missing(functions: Sequence[DifferentiableFunction], diagnostics: Diagnostics) -> None:
    """Report gradients that nothing computes although the operator, or another variant of it, has formulas.

    Operators of torchgen's profile are left out: PyTorch's file has many of them, and each is intended.
    """
    own = [fn for fn in functions if fn.func.is_library]
    with_formulas: dict[str, tuple[NativeFunction, DifferentiabilityInfo]] = {}
    for fn in own:
        f = fn.func
        recorded = [info for info in fn.infos.values() if info.has_derivatives]
        if recorded:
            with_formulas.setdefault(f.scoped_root, (f, recorded[0]))
        for info in recorded:
            for argument in info.unmentioned_tensors if info.func is f else ():
                message = f"the tensor '{argument.name}' of '{f.full_name}' has no formula"
                labels = ((f.argument_span(argument.name), "this argument"),)
                hint = f"add its formula, or '{argument.name}: non_differentiable'"
                span = info.entry.name.span
                diagnostics.warning("W1240", message, span, labels=labels, hint=hint)
    for fn in own:
        f = fn.func
        is_variant = f.func.kind() is not SchemaKind.out and "generated" not in f.tags
        # Of the author's own kernels.
        records = any(key.name.startswith(DispatchKey.Autograd.name) for key, _ in f.dispatch)
        is_error = autograd_kernel(fn) is AutogradKernel.not_implemented
        if is_variant and is_error and not records and f.scoped_root in with_formulas:
            other, info = with_formulas[f.scoped_root]
            message = f"'{f.full_name}' has no formulas, but '{other.full_name}' does"
            labels = ((f.span, "this operator"),)
            hint = f"add an entry for '{f.full_name}'"
            span = info.entry.name.span
            diagnostics.warning("W1241", message, span, labels=labels, hint=hint)


SUFFIXES = re.compile(r"(_symint)?(_outf|_out)?$")


class GradientKind(Enum):
    """Where the gradient of an operator comes from. The value is the text for people."""

    own = "autograd kernel of the backend"
    formula = "formula"
    composite = "those of the operators that it is made of"
    lacking = "formula that calls a missing operator"
    missing = "missing: there is no formula"
    none = "not differentiable"


# Operators with these can be trained through.
AVAILABLE = frozenset({GradientKind.own, GradientKind.formula, GradientKind.composite})


class GradientCoverage(Struct, frozen=True):
    """The gradient of an operator. `lacks` are the operators that its formulas call and the backend does not run."""

    kind: GradientKind
    lacks: tuple[str, ...] = ()


class GradientTable:
    """The gradients of the operators of one registry, for a backend with the autograd kernels `own`.

    `is_missing` says of an operator that the backend does not run it.
    """

    def __init__(
        self,
        functions: Sequence[DifferentiableFunction],
        own: BackendIndex | None,
        is_missing: Callable[[NativeFunction], bool],
    ) -> None:
        self._functions = {fn.func.full_name: fn for fn in functions}
        self._own = (
            frozenset()
            if own is None
            else frozenset(kernel.function.full_name for kernel in own.kernels)
        )
        self._key = DEFAULT_KEY if own is None else own.key.name
        self._is_missing = is_missing
        self._missing = self._missing_names()

    def of(self, f: NativeFunction) -> GradientCoverage:
        if f.full_name in self._own:
            return GradientCoverage(GradientKind.own)
        fn = self._functions[f.full_name]
        kernel = autograd_kernel(fn)
        has_tensors = any(a.type.is_tensor_like() for a in f.func.arguments.flat_all)
        if f.func.kind() is SchemaKind.out or kernel is AutogradKernel.derived or not has_tensors:
            return GradientCoverage(GradientKind.none)
        if kernel is None:
            return GradientCoverage(GradientKind.composite)
        if kernel is AutogradKernel.not_implemented:
            return GradientCoverage(GradientKind.missing)
        lacks = tuple(dict.fromkeys(self._lacking(fn)))
        return GradientCoverage(GradientKind.lacking if lacks else GradientKind.formula, lacks)

    def _missing_names(self) -> Mapping[str, str]:
        """Return the C++ names of operators of which no overload runs, with the first of their operators."""
        by_name: dict[str, list[NativeFunction]] = {}
        for fn in self._functions.values():
            by_name.setdefault(str(cpp_name(fn.func.func)), []).append(fn.func)
        return {
            name: overloads[0].full_name
            for name, overloads in by_name.items()
            if all(map(self._is_missing, overloads))
        }

    def _lacking(self, fn: DifferentiableFunction) -> Iterator[str]:
        info = fn.infos.get(self._key) or fn.infos.get(DEFAULT_KEY)
        for derivative in () if info is None else info.derivatives:
            formula = derivative.original_formula
            for call in (*called_functions(formula, ("at",)), *called_members(formula)):
                name = SUFFIXES.sub("", call.text)
                if name in self._missing:
                    yield self._missing[name]
