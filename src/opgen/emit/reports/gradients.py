"""Describe the gradients of an operator: its node, its formulas, what they save, and what has no gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from opgen.autograd.derivative import (
    DifferentiabilityInfo,
    DifferentiableFunction,
    ForwardDerivative,
    SavedAttribute,
)
from opgen.autograd.kernels import AutogradKernel, autograd_kernel, differentiable_outputs
from opgen.cpp.type_values import TypeSpelling, spell
from opgen.emit.common.context import Context
from opgen.model.derivatives import DEFAULT_KEY, TextPlace
from opgen.model.native_function import NativeFunction
from opgen.targets.base import FileKind

# A word, and what it stands for.
_Row: TypeAlias = tuple[str, str]

_KERNELS = {
    AutogradKernel.formula: "a kernel that records the node",
    AutogradKernel.derived: "a kernel that records nothing: no output has a gradient",
    None: "nothing: its gradients are those of the operators that it calls",
}


def gradient_lines(context: Context, f: NativeFunction) -> tuple[str, ...]:
    """Return the lines about `f`; none if the library has no formulas."""
    fn = next((fn for fn in context.gradients if fn.func.full_name == f.full_name), None)
    if fn is None:
        return ()
    rows: list[_Row | str] = [("autograd", _kernel(context, fn))]
    for key in sorted(fn.infos, key=lambda key: (key != DEFAULT_KEY, key)):
        if key != DEFAULT_KEY:
            rows.append(f"for {key}")
        rows += _rows(fn, key, context.target.cpp.spelling)
    width = max(10, *(len(row[0]) for row in rows if not isinstance(row, str))) + 1
    return tuple(
        row if isinstance(row, str) else f"{row[0]:<{width}}{row[1]}".rstrip() for row in rows
    )


def node_of(context: Context, f: NativeFunction) -> str | None:
    """Return the node that the calls of `f` record on all backends; None if it has no formulas."""
    if f.full_name not in context.recorded:
        return None
    fn = next(fn for fn in context.gradients if fn.func.full_name == f.full_name)
    return fn.infos[DEFAULT_KEY].op


def _kernel(context: Context, fn: DifferentiableFunction) -> str:
    kernel = autograd_kernel(fn)
    if kernel is not AutogradKernel.not_implemented:
        return _KERNELS[kernel]
    if FileKind.REGISTER_AUTOGRAD in context.target.plan.kinds:
        return "an error in the backward pass: there is no formula"
    return "nothing: there is no formula"


def _rows(fn: DifferentiableFunction, key: str, spelling: TypeSpelling) -> Iterator[_Row]:
    info, f = fn.infos[key], fn.func
    if info.op is not None:
        yield "node", info.op
    if info.func is not f:
        yield "formulas", f"those of {info.func.full_name}"
    for derivative in info.derivatives:
        names = ", ".join(derivative.var_names)
        yield from _formula(names, derivative.original_formula.text, derivative.place)
    yield from _without_gradient(info)
    yield from _saved(info, info.all_saved_inputs, spelling)
    yield from _saved(info, info.all_saved_outputs, spelling)
    outputs = differentiable_outputs(fn, key)
    if info.has_derivatives and len(outputs) < len(f.func.returns):
        condition = info.output_differentiability_condition
        shown = ", ".join(outputs) or "none"
        yield "outputs", f"with a gradient: {shown}"
        if condition is not None:
            yield "", f"if {condition.text}"
    yield from _forward(fn.forward[key], info)


def _formula(names: str, formula: str, place: TextPlace) -> Iterator[_Row]:
    span = place.span
    where = f"{span.source.path}:{span.source.location(span.start).line}"
    yield names, f"{' '.join(formula.split())}  ({where})"


def _without_gradient(info: DifferentiabilityInfo) -> Iterator[_Row]:
    """Yield the arguments without a gradient, and why they have none."""
    if not info.has_derivatives:
        return
    wanted = {b.name for b in info.args_with_derivatives}
    for argument in info.func.func.arguments.flat_all:
        if argument.name in wanted:
            continue
        if argument.name in info.non_differentiable_arg_names:
            yield argument.name, "no gradient: it is marked non_differentiable"
        elif argument.type.is_tensor_like():
            yield argument.name, "no gradient: there is no formula"
        else:
            yield argument.name, f"no gradient: its type is {argument.type}"


def _saved(
    info: DifferentiabilityInfo, saved: Iterable[SavedAttribute], spelling: TypeSpelling
) -> Iterator[_Row]:
    for attribute in saved:
        readers = [
            name
            for d in info.derivatives
            if any(s.name == attribute.name for s in (*d.saved_inputs, *d.saved_outputs))
            for name in d.var_names
        ]
        value = "" if attribute.expr == attribute.name else f" = {attribute.expr}"
        why = f"for the gradient of {', '.join(dict.fromkeys(readers))}"
        yield "saves", f"{spell(attribute.type, spelling)} {attribute.name}{value}, {why}"


def _forward(forward: Iterable[ForwardDerivative], info: DifferentiabilityInfo) -> Iterator[_Row]:
    found = False
    for derivative in forward:
        found = True
        names = ", ".join(derivative.var_names)
        yield from _formula(f"{names}_t", derivative.formula.text, derivative.place)
    if not found and info.has_derivatives:
        yield "forward", "no formula: a tangent of an argument is an error"
