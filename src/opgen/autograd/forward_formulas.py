"""Derive the forward formulas of operators: for the tangents of the outputs, from those of the inputs.

Source of the rules: torchgen, see docs/reference/torchgen-differences.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from opgen.autograd.derivative import Derivative, DifferentiabilityInfo, ForwardDerivative
from opgen.autograd.formula import Formula, read_formula
from opgen.cpp.cpp_types import I_TENSOR_LIST_REF, TENSOR_LIST, ConstRef
from opgen.cpp.signatures import Binding
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.derivatives import FormulaRow
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace
from opgen.model.types import Type

_RESULT = re.compile(r"result(\d+)")
_ELEMENT_WISE, _LINEAR = "auto_element_wise", "auto_linear"
FOREACH = "_foreach_"


def forward_derivative(
    f: NativeFunction, row: FormulaRow, arguments: Collection[str], diagnostics: Diagnostics
) -> ForwardDerivative | None:
    """Return the forward formula of a row. Return None, and report it, if one of its names is not an output."""
    names = tuple(name.text for name in row.names)
    types = _output_types(f, names)
    if types:
        formula = read_formula(row.formula.text)
        return ForwardDerivative(names, types, formula, row.formula.place)
    message = f"'{shorten(names[0])}' is neither an argument nor an output of '{f.full_name}'"
    outputs = [r.name for r in f.func.returns if r.name is not None]
    if not outputs and len(f.func.returns) == 1:
        outputs = ["result"]
    hint = did_you_mean(names[0], [*arguments, *outputs])
    diagnostics.error("E1223", message, row.span, hint=hint)
    return None


def _output_types(f: NativeFunction, names: tuple[str, ...]) -> tuple[Type, ...]:
    returns = f.func.returns
    named = tuple(r.type for r in returns if r.name in names)
    if named:
        return named
    if names == ("result",):
        return (returns[0].type,) if len(returns) == 1 else ()
    indices = [int(match[1]) for name in names if (match := _RESULT.fullmatch(name))]
    return tuple(returns[i].type for i in indices) if all(i < len(returns) for i in indices) else ()


def with_inputs(
    f: NativeFunction,
    name: str,
    arguments: Sequence[str],
    inputs: Sequence[Binding],
    derivatives: Sequence[Derivative],
    forward: tuple[ForwardDerivative, ...],
    diagnostics: Diagnostics,
) -> tuple[ForwardDerivative, ...]:
    """Replace `auto_linear` and `auto_element_wise` by formulas, and find which inputs each formula uses.

    `inputs` are the arguments with a backward formula.
    """
    found = []
    for written in forward:
        if not _check_names(f, written, inputs, diagnostics):
            continue
        formula = written.formula
        tangents = _inputs_used(formula, inputs, "_t")
        problem = _find_problem(f, formula.text, inputs, derivatives, forward)
        if problem is not None:
            code = "E1225" if formula.text == _ELEMENT_WISE else "E1226"
            diagnostics.error(code, problem, written.place.span, hint="write the formula")
            continue
        if formula.text == _ELEMENT_WISE:
            formula = _element_wise(inputs[0].name, derivatives[0])
            tangents = tuple(arguments)
        elif formula.text == _LINEAR:
            tangents = tuple(b.name for b in inputs)
            formula = _linear(f, name, arguments, tangents)
        primals = _inputs_used(formula, inputs, "_p")
        found.append(
            replace(
                written,
                formula=formula,
                required_inputs_fw_grad=tangents,
                required_inputs_primal=primals,
            )
        )
    return tuple(found)


def _inputs_used(formula: Formula, inputs: Sequence[Binding], postfix: str) -> tuple[str, ...]:
    return tuple(b.name for b in inputs if formula.uses(b.name + postfix))


def _check_names(
    f: NativeFunction,
    written: ForwardDerivative,
    inputs: Sequence[Binding],
    diagnostics: Diagnostics,
) -> bool:
    formula, right = written.formula, True
    # Plain names are ambiguous, but a function of a formula may take a list with its tangents.
    lists = () if f.root_name.startswith(FOREACH) else (TENSOR_LIST, ConstRef(I_TENSOR_LIST_REF))
    for name in (b.name for b in inputs if b.type not in lists):
        found = formula.find(name)
        if found is not None:
            right = False
            message = f"'{name}' is ambiguous in a forward formula"
            hint = f"write '{name}_p' for its value, or '{name}_t' for its tangent"
            span = written.place.part(*found)
            diagnostics.error("E1224", message, span, hint=hint)
    return right


def _find_problem(
    f: NativeFunction,
    word: str,
    inputs: Sequence[Binding],
    derivatives: Sequence[Derivative],
    forward: Sequence[ForwardDerivative],
) -> str | None:
    """Return why the word that stands for a formula has no meaning here; None for any other formula."""
    outputs = sum(len(d.var_names) for d in forward)
    if word == _ELEMENT_WISE and not derivatives:
        return f"'{word}' follows from a backward formula, and there is none"
    if word == _ELEMENT_WISE and f.func.is_inplace:
        return f"'{word}' cannot be used for an operator that has only an in-place variant"
    if word == _ELEMENT_WISE and (len(inputs) != 1 or len(derivatives) != 1 or outputs > 1):
        return f"'{word}' needs one differentiable input and one output"
    if word == _LINEAR and outputs > 1:
        return f"'{word}' needs a single output"
    if word == _LINEAR and not inputs:
        return f"'{word}' needs an argument with a backward formula"
    return None


def _element_wise(name: str, derivative: Derivative) -> Formula:
    """Return the forward formula of an operator that computes each element from one element.

    Its Jacobian is diagonal, so the tangent is the conjugate of the gradient at the conjugate of the tangent.
    """
    formula = derivative.original_formula.with_name("grad", f"{name}_t.conj()")
    return read_formula(f"({formula.with_name(name, f'{name}_p').text}).conj()")


def _linear(
    f: NativeFunction, name: str, arguments: Sequence[str], tangents: Sequence[str]
) -> Formula:
    """Return a call of the operator with the tangents as its arguments."""
    given = [f"{a}_t" if a in tangents else a for a in arguments]
    if f.func.has_symint():
        name += "_symint"
    if Variant.function in f.variants:
        return read_formula(f"{operator_namespace(f.namespace)}::{name}({', '.join(given)})")
    return read_formula(f"{given[0]}.{name}({', '.join(given[1:])})")


def inplace_derivative(
    f: NativeFunction, info: DifferentiabilityInfo, *, is_own: bool, diagnostics: Diagnostics
) -> tuple[ForwardDerivative, ...]:
    """Return the forward formula of an in-place variant.

    With `is_own`, the formula is written for it, else for the functional variant. The result of the operator is then
    `self_p`, and the value before it `original_self_p`.
    """
    written = info.forward_derivatives[0]
    if len(info.forward_derivatives) > 1:
        message = (
            f"'{f.full_name}' has one output and {len(info.forward_derivatives)} forward formulas"
        )
        diagnostics.error("E1230", message, info.forward_derivatives[1].place.span)
        return ()
    formula = written.formula
    if formula.uses("self_p"):
        if is_own:
            found = formula.find("self_p")
            span = written.place.span if found is None else written.place.part(*found)
            message = f"'{f.full_name}' has overwritten 'self' when this formula runs"
            hint = "use 'result', or 'original_self_p' for the value before"
            diagnostics.error("E1227", message, span, hint=hint)
            return ()
        formula = formula.with_name("self_p", "original_self_p")
        formula = formula.with_name("self_t", "original_self_t")
    formula = formula.with_name("result", "self_p")
    primals = written.required_inputs_primal
    if formula.uses("self_p"):
        primals = (*primals, "self")
    if not is_own:
        formula = _written_in_place(formula, info.name)
    reads_original = formula.uses("original_self_p") or formula.uses("original_self_t")
    return (
        replace(
            written,
            var_names=("self",),
            formula=formula,
            required_inputs_primal=primals,
            required_original_self_value=reads_original,
            is_reusing_outplace_formula=not is_own,
        ),
    )


def _written_in_place(formula: Formula, name: str) -> Formula:
    """Return a formula that writes the tangent of `self` if there is one."""
    text, tree = formula.text, formula.tree
    is_call = tree is not None and tree.kind == "method" and tree.scope == "."
    if tree is not None and is_call and tree.text == name and tree.parts[0].is_name("self_t"):
        written = f"self_t_raw.{name}_{text[tree.opening :]}"
    else:
        written = f"self_t_raw.copy_({text})"
    return read_formula(f"self_t_raw.defined() ? {written} : {text}")
