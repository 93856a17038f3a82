"""Report rows of formulas that torchgen leaves to the C++ compiler: wrong names, types, and numbers of gradients."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from opgen.autograd.formula import Node, read_formula
from opgen.cpp.names import cpp_name
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.derivatives import FormulaRow
from opgen.model.native_function import NativeFunction


def check_rows(f: NativeFunction, rows: Sequence[FormulaRow], diagnostics: Diagnostics) -> None:
    """Report names of keys that have no gradient or tangent, or have one already."""
    arguments = {a.name: a.type for a in f.func.arguments.flat_all}
    outputs = _outputs(f)
    first: dict[str, FormulaRow] = {}
    for row in rows:
        of_arguments = row.names[0].text in arguments
        known: Collection[str] = arguments if of_arguments else outputs
        is_formula = row.formula.text.lower().strip() != "non_differentiable"
        for name in row.names[1:]:
            if name.text not in known:
                what = "an argument" if of_arguments else "an output"
                message = f"'{shorten(name.text)}' is not {what} of '{f.full_name}', as '{row.names[0].text}' is"
                hint = did_you_mean(name.text, tuple(known))
                diagnostics.error("E1232", message, name.span, hint=hint)
        for name in row.names if is_formula else ():
            type = arguments.get(name.text)
            if type is not None and not type.is_tensor_like():
                message = f"'{name.text}' is of type '{type}', which has no gradient"
                labels = ((f.argument_span(name.text), "this argument"),)
                diagnostics.error("E1233", message, name.span, labels=labels, hint="remove it")
            other = first.setdefault(outputs.get(name.text, name.text), row)
            if other is not row:
                message = f"'{name.text}' has a formula already"
                labels = ((other.span, "here"),)
                diagnostics.error("E1234", message, name.span, labels=labels)


def _outputs(f: NativeFunction) -> Mapping[str, str]:
    """Map each name of an output to one name that stands for all names of that output."""
    found = {"result": "result0"} if len(f.func.returns) == 1 else {}
    for index, value in enumerate(f.func.returns):
        found[f"result{index}"] = f"result{index}"
        if value.name is not None:
            found[value.name] = f"result{index}"
    return found


def check_differentiable(
    f: NativeFunction,
    flags: Sequence[bool] | None,
    rows: Iterable[FormulaRow],
    diagnostics: Diagnostics,
) -> None:
    """Report gradients of outputs that have none by `output_differentiability`."""
    if flags is None:
        return
    having = sum(flags)
    numbers = {name: int(one[6:]) for name, one in _outputs(f).items()}
    arguments = {a.name for a in f.func.arguments.flat_all}
    without = [f"grad_{r.name}" for r, flag in zip(f.func.returns, flags) if r.name and not flag]
    for row in rows:
        formula, place = read_formula(row.formula.text), row.formula.place
        for output in row.names:
            position = numbers.get(output.text)
            if position is not None and not flags[position] and row.names[0].text not in arguments:
                message = f"'output_differentiability' says that '{output.text}' has no gradient, and so no tangent"
                diagnostics.error("E1236", message, output.span, hint="remove the row")
        for name in without:
            found = formula.find(name)
            if found is not None:
                message = f"'output_differentiability' says that '{name[5:]}' has no gradient"
                diagnostics.error("E1236", message, place.part(*found))
        for index, node in formula.items("grads"):
            if having <= index < len(f.func.returns):
                span = place.part(node.start, node.end)
                verb = "has" if having == 1 else "have"
                message = (
                    f"{having} of {len(flags)} outputs {verb} a gradient, and this would be another"
                )
                hint = "count only the outputs with True in 'output_differentiability', from 0"
                diagnostics.error("E1236", message, span, hint=hint)


class GradientNumbers:
    """Finds how many gradients a formula computes."""

    def __init__(self, functions: Iterable[NativeFunction]) -> None:
        self._functions = functions
        self._returns: dict[str, set[int]] | None = None

    def check(self, f: NativeFunction, row: FormulaRow, diagnostics: Diagnostics) -> None:
        """Report a formula that computes more or fewer gradients than its key has names."""
        wanted = len(row.names)
        tree = read_formula(row.formula.text).tree
        number = None if tree is None else self._of(tree, wanted)
        if number is None or number == wanted:
            return
        computed = "one value" if number == 1 else f"{number} values"
        names = f"{wanted} names" if wanted > 1 else "one name"
        message = f"this formula has {computed}, and its key {names}: '{shorten(row.key)}'"
        diagnostics.error("E1235", message, row.formula.place.span)

    def _of(self, tree: Node, wanted: int) -> int | None:
        """Return the number; None if it is not known, or may be the one that is wanted."""
        scope = tree.scope.removeprefix("::")
        is_tuple = scope == "std" and tree.text in ("make_tuple", "forward_as_tuple")
        if tree.kind == "braces" or (tree.kind == "call" and is_tuple):
            return len(tree.parts)
        if tree.kind != "call" or "::" in tree.scope or tree.template is not None:
            return None
        numbers = self._returned().get(tree.text.removesuffix("_symint"), set())
        return next(iter(numbers)) if len(numbers) == 1 and wanted not in numbers else None

    def _returned(self) -> Mapping[str, set[int]]:
        """Return the numbers of outputs of all functions of a name."""
        if self._returns is None:
            self._returns = {}
            for f in self._functions:
                self._returns.setdefault(str(cpp_name(f.func)), set()).add(len(f.func.returns))
        return self._returns
