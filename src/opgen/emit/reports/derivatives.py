"""Write the gradients of all operators as JSON: the fields that are compared with torchgen.

The field names are those of `tests/differential/parity/torchgen_derivatives.py`. C++ types are spelled as the target
spells them, and as torchgen does for operators of its profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from opgen.autograd.derivative import (
    Derivative,
    DifferentiabilityInfo,
    DifferentiableFunction,
    ForwardDerivative,
    SavedAttribute,
)
from opgen.autograd.kernels import autograd_kernel, differentiable_outputs, inplace_or_view_kernel
from opgen.cpp.type_values import TypeSpelling, spell
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.native_function import NativeFunction

Row: TypeAlias = dict[str, Any]


def derivative_rows(
    gradients: Iterable[DifferentiableFunction],
    spelling: TypeSpelling,
    torchgen: TypeSpelling,
    wanted: Sequence[NativeFunction] | None,
) -> list[Row]:
    """Return a row for each operator, or for those that are `wanted`, sorted by name and schema.

    Operators of torchgen's profile have types as `torchgen` spells them: those rows are compared with torchgen's, for
    each target.
    """
    names = None if wanted is None else {f.full_name for f in wanted}
    rows = [
        _row(fn, spelling if fn.func.is_library else torchgen)
        for fn in gradients
        if names is None or fn.func.full_name in names
    ]
    return sorted(rows, key=lambda row: (row["name"], row["schema"]))


def _row(fn: DifferentiableFunction, spelling: TypeSpelling) -> Row:
    kernel, inplace_or_view = autograd_kernel(fn), inplace_or_view_kernel(fn)
    keys = sorted(fn.infos)
    return {
        "name": fn.func.full_name,
        "schema": str(fn.func.func),
        "kernel": None if kernel is None else kernel.name,
        "inplace_or_view": None if inplace_or_view is None else inplace_or_view.name,
        "differentiable_outputs": {
            key: list(differentiable_outputs(fn, key)) for key in keys or [DEFAULT_KEY]
        },
        "keys": {key: _info(fn.infos[key], fn.forward[key], spelling) for key in keys},
    }


def _info(
    info: DifferentiabilityInfo, forward: Iterable[ForwardDerivative], spelling: TypeSpelling
) -> Row:
    flags, condition = info.output_differentiability, info.output_differentiability_condition
    return {
        "node": info.op,
        "formulas": [_formula(derivative, spelling) for derivative in info.derivatives],
        "forward": [_forward(derivative) for derivative in forward],
        "saved_inputs": _attributes(info.all_saved_inputs, spelling),
        "saved_outputs": _attributes(info.all_saved_outputs, spelling),
        "arguments": [binding.name for binding in info.args_with_derivatives],
        "non_differentiable": list(info.non_differentiable_arg_names),
        "outputs": None if flags is None else list(flags),
        "conditions": None if condition is None else [condition.text],
        "named_gradients": sorted(info.used_named_gradients),
    }


def _formula(derivative: Derivative, spelling: TypeSpelling) -> Row:
    return {
        "of": list(derivative.var_names),
        "formula": derivative.formula.text,
        "written": derivative.original_formula.text,
        "saved_inputs": _attributes(derivative.saved_inputs, spelling),
        "saved_outputs": _attributes(derivative.saved_outputs, spelling),
        "named_gradients": sorted(derivative.named_gradients),
    }


def _forward(derivative: ForwardDerivative) -> Row:
    return {
        "of": list(derivative.var_names),
        "types": [str(type) for type in derivative.var_types],
        "formula": derivative.formula.text,
        "tangents": sorted(derivative.required_inputs_fw_grad),
        "primals": sorted(derivative.required_inputs_primal),
        "original_self": derivative.required_original_self_value,
        "in_place": derivative.is_reusing_outplace_formula,
    }


def _attributes(saved: Iterable[SavedAttribute], spelling: TypeSpelling) -> list[list[str]]:
    """Return the fields in alphabetical order: name, C++ type, and the expression that is saved."""
    return sorted([a.name, spell(a.type, spelling), a.expr] for a in saved)
