"""Report formulas of libraries whose gradients would be missing, or those of other tensors, without a word.

torchgen's profile has other rules: `grad` is the gradient of the first of several results.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.autograd.formula import read_formula
from opgen.autograd.forward_formulas import FOREACH
from opgen.diagnostics import Diagnostics, Span
from opgen.model.derivatives import DerivativeEntry, FormulaRow, FormulaTable
from opgen.model.function_schema import Return
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseType, Type


def check_mask(row: FormulaRow, diagnostics: Diagnostics) -> None:
    """Report `grad_input_mask[i]` that is not there: it has an item for each name of the key."""
    for index, node in read_formula(row.formula.text).items("grad_input_mask"):
        count = len(row.names)
        if index >= count:
            has = "one item" if count == 1 else f"{count} items"
            message = f"'grad_input_mask' has {has}, one for each name of the key '{row.key}'"
            hint = "count from 0, in the order of the names"
            diagnostics.error(
                "E1239", message, row.formula.place.part(node.start, node.end), hint=hint
            )


def check_results(
    named: NativeFunction,
    f: NativeFunction,
    flags: Sequence[bool] | None,
    entry: DerivativeEntry,
    table: FormulaTable,
    diagnostics: Diagnostics,
) -> None:
    """Report formulas for results that have no gradient, or several. The entry names `named`, its formulas are for `f`."""
    arguments = {a.name for a in f.func.arguments.flat_all}
    rows = [
        row
        for row in table.rows
        if row.names[0].text in arguments and row.formula.text.strip() != "non_differentiable"
    ]
    if not f.is_library or not rows:
        return
    if named.func.is_out_fn():
        message = f"'{named.full_name}' writes 'out', and has no gradient"
        hint = f"name the functional operator: '{f.full_name}'" if f is not named else "remove it"
        diagnostics.error("E1238", message, entry.name.span, hint=hint)
        return
    _check_written(f, rows, diagnostics)
    results = [
        r
        for r, flag in zip(f.func.returns, flags or (True,) * len(f.func.returns))
        if flag and r.type.is_tensor_like()
    ]
    nested = next((r for r in results if _has_no_place(r.type)), None)
    # Without results, those of an operator that writes its first argument are this argument.
    if nested is not None or (not results and (f.func.returns or not f.func.is_inplace)):
        span = rows[0].formula.span
        if nested is not None:
            message = f"'{f.full_name}' returns '{nested.type}', which has no gradient"
            hint = "return 'Tensor[]', or write 'non_differentiable'"
        else:
            message = f"no result of '{f.full_name}' has a gradient"
            hint = "write 'non_differentiable', or remove the row"
        labels = ((f.span, "this operator"),)
        diagnostics.error("E1238", message, span, labels=labels, hint=hint)
    elif not f.root_name.startswith(FOREACH):
        _check_gradients(f, results, rows, diagnostics)


def _has_no_place(type: Type) -> bool:
    """Return whether tensors are where no target looks for them: in lists of lists or of optionals, in optional lists."""
    found = type.is_list_like()
    return found is not None and (type is not found or not isinstance(found.elem, BaseType))


def _check_gradients(
    f: NativeFunction,
    results: Sequence[Return],
    rows: Sequence[FormulaRow],
    diagnostics: Diagnostics,
) -> None:
    """Report the gradient of one tensor where the results contain several, or any number."""
    has_list = any(r.type.is_list_like() is not None for r in results)
    if not has_list and len(results) < 2:
        return
    names = [f"grad_{r.name}" for r in results if r.name is not None]
    for row in rows:
        found, place = read_formula(row.formula.text).find("grad"), row.formula.place
        if has_list:
            span = _single_use(row, ["grad", *names])
            if span is not None:
                message = f"'{f.full_name}' returns a list of tensors, each of which has a gradient"
                hint = "write 'grads', the list of all gradients"
                diagnostics.error("E1244", message, span, hint=hint)
        elif found is not None:
            first = results[0].name or f"result{f.func.returns.index(results[0])}"
            message = f"'grad' is the gradient of '{first}' alone, and '{f.full_name}' has {len(results)} results"
            flags = ", ".join(str(r is results[0]) for r in f.func.returns)
            use = "grads[i]" if results[0].name is None else f"grad_{first}"
            hint = (
                f"write '{use}', or 'output_differentiability: [{flags}]' if the others have none"
            )
            diagnostics.error("E1244", message, place.part(*found), hint=hint)


def _single_use(row: FormulaRow, names: Sequence[str]) -> Span | None:
    """Return the place of a gradient that is not the list of all."""
    formula, place = read_formula(row.formula.text), row.formula.place
    for node in formula.nodes:
        if node.kind == "index" and node.parts[0].is_name("grads"):
            return place.part(node.start, node.end)
    found = next(filter(None, map(formula.find, names)), None)
    return None if found is None else place.part(*found)


def _check_written(f: NativeFunction, rows: Sequence[FormulaRow], diagnostics: Diagnostics) -> None:
    """Report formulas for arguments that are written, and that no result returns."""
    written = [a.name for a in f.func.arguments.flat_all if a.is_write]
    returned = f.func.aliased_return_names()
    if f.func.is_inplace and not f.func.returns and len(written) == 1:
        returned = (written[0],)
    for row in rows:
        for name in row.names:
            if name.text in written and name.text not in returned:
                message = f"'{f.full_name}' writes '{name.text}', and does not return it"
                argument = next(a for a in f.func.arguments.flat_all if a.name == name.text)
                hint = (
                    f"return it, '{argument.type_text}', or write '{name.text}: non_differentiable'"
                )
                labels = ((f.argument_span(name.text), "this argument"),)
                diagnostics.error("E1245", message, name.span, labels=labels, hint=hint)
