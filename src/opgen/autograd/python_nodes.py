"""Write the formulas of an operator for Python: what is saved, and the gradients of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from opgen.autograd.derivative import Derivative, DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.forward_formulas import FOREACH
from opgen.autograd.kernels import differentiable_outputs
from opgen.autograd.python_formulas import (
    Names,
    NotPython,
    as_python,
    python_name,
)
from opgen.cpp.names import return_names
from opgen.diagnostics import Span
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.function_schema import SchemaKind

_CALL = "call"
# Variables of the generated functions.
_TAKEN = frozenset((_CALL, "torch", "math", "_gradients"))
_MASK = "grad_input_mask"
_INDEX = "i"


class PythonGradient(Struct, frozen=True):
    """A formula: the numbers of the inputs that it serves, and its expression."""

    inputs: tuple[int, ...]
    text: str


class PythonNode(Struct, frozen=True):
    """The formulas of an operator in Python.

    `inputs` are the positions of the arguments with a formula, `refused` those of tensors of which no row says anything,
    `outputs` the numbers of the returns with a gradient.
    `parameters` and `results` name all arguments and results; `saved_inputs` and `saved_outputs` are expressions of
    these, whose values the formulas know by the names in `fields`. `locals` are statements before the formulas, `condition` says
    whether the result has a gradient. `functions` are the functions of operators that formulas call, as
    `namespace.name`.
    """

    inputs: tuple[int, ...]
    refused: tuple[int, ...]
    outputs: tuple[int, ...]
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    fields: tuple[str, ...]
    saved_inputs: tuple[str, ...]
    saved_outputs: tuple[str, ...]
    locals: tuple[str, ...]
    gradients: tuple[PythonGradient, ...]
    condition: str
    functions: frozenset[str]


class Refusal(Struct, frozen=True):
    """A part of a formula that has no form in Python."""

    message: str
    span: Span


def recorded_info(fn: DifferentiableFunction) -> DifferentiabilityInfo | None:
    """Return the formulas that Python records for `fn`; None if it has none, or only those of single tensors for a list."""
    info = fn.infos.get(DEFAULT_KEY)
    kind = fn.func.func.kind()
    if info is None or not info.has_derivatives or kind is SchemaKind.out:
        return None
    is_of_one = fn.func.root_name.startswith(FOREACH) and not _is_foreach(info)
    return None if is_of_one else info


def python_node(
    fn: DifferentiableFunction,
    info: DifferentiabilityInfo,
    operators: AbstractSet[str],
    declared: AbstractSet[tuple[str, str]],
) -> PythonNode | Refusal:
    """Return the formulas of `fn` in Python, or the first part of them that has no form there.

    `operators` are the C++ names of the operators of its namespace, `declared` the functions of the author's headers.
    """
    return _Builder(fn, info, operators, declared).build()


def _is_foreach(info: DifferentiabilityInfo) -> bool:
    return info.func.root_name.startswith(FOREACH)


def _as_variables(names: Iterable[str]) -> dict[str, str]:
    return {name: python_name(name, _TAKEN) for name in names}


class _Builder:
    def __init__(
        self,
        fn: DifferentiableFunction,
        info: DifferentiabilityInfo,
        operators: AbstractSet[str],
        declared: AbstractSet[tuple[str, str]],
    ) -> None:
        self.fn, self.info = fn, info
        self.operators, self.declared = operators, declared
        self.functions: set[str] = set()
        self.arguments = tuple(a.name for a in fn.func.func.arguments.flat_all)
        self.returned = tuple(
            "result" if name == "self" else name for name in return_names(fn.func)
        )
        self.inputs = tuple(b.name for b in info.args_with_derivatives)

    def build(self) -> PythonNode | Refusal:
        info = self.info
        place = info.derivatives[0].place
        at = 0
        try:
            saved_inputs = tuple(
                self._text(s.expr, self._of_arguments()) for s in info.all_saved_inputs
            )
            saved_outputs = tuple(
                self._text(s.expr, self._of_results()) for s in info.all_saved_outputs
            )
            condition = info.output_differentiability_condition
            decides = ""
            if condition is not None:
                place = condition.place
                decides = self._text(condition.text, self._of_arguments())
            gradients = []
            for derivative in info.derivatives:
                place, at = derivative.place, len(derivative.original_formula.text)
                gradients.append(self._gradient(derivative))
        except NotPython as error:
            whole = info.derivatives[0].original_formula if at == 0 else None
            is_written = whole is None and derivative.formula == derivative.original_formula
            span = place.part(error.start, min(error.end, at)) if is_written else place.span
            return Refusal(str(error), span)
        every = (*info.all_saved_inputs, *info.all_saved_outputs)
        return PythonNode(
            inputs=tuple(self.arguments.index(name) for name in self.inputs),
            refused=tuple(self.arguments.index(a.name) for a in info.unmentioned_tensors),
            outputs=tuple(self._outputs()),
            parameters=tuple(python_name(name, _TAKEN) for name in self.arguments),
            results=tuple(python_name(name, _TAKEN) for name in self.returned),
            fields=tuple(python_name(s.name, _TAKEN) for s in every),
            saved_inputs=saved_inputs,
            saved_outputs=saved_outputs,
            locals=tuple(self._locals()),
            gradients=tuple(gradients),
            condition=decides,
            functions=frozenset(self.functions),
        )

    def _text(self, formula: str, values: dict[str, str]) -> str:
        names = Names(self.fn.func.namespace, values, self.operators, self.declared)
        found = as_python(formula, names)
        self.functions |= found.functions
        return found.text

    def _of_arguments(self) -> dict[str, str]:
        return _as_variables(self.arguments)

    def _of_results(self) -> dict[str, str]:
        return _as_variables(self.returned)

    def _of_formulas(self) -> dict[str, str]:
        every = (*self.info.all_saved_inputs, *self.info.all_saved_outputs)
        values = _as_variables(s.name for s in every)
        values |= {"grad": "grad", "grads": f"{_CALL}.grads", "retain_variables": "True"}
        values |= {name: name for name in self.info.used_named_gradients}
        if _is_foreach(self.info):
            values[_INDEX] = _INDEX
        return values

    def _gradient(self, derivative: Derivative) -> PythonGradient:
        numbers = tuple(self.inputs.index(name) for name in derivative.var_names)
        mask = ", ".join(f"{_CALL}.computes({i})" for i in numbers)
        values = {**self._of_formulas(), _MASK: f"[{mask}]"}
        text = self._text(derivative.formula.text, values)
        if _is_foreach(self.info):
            text = f"[{text} for {_INDEX} in range(len({_CALL}.grads))]"
        return PythonGradient(numbers, text)

    def _locals(self) -> Iterator[str]:
        formulas = [d.formula for d in self.info.derivatives]
        if any(formula.uses("grad") for formula in formulas) and not _is_foreach(self.info):
            yield f"grad = {_CALL}.grads[0]"
        names = [r.name for r in self.info.func.func.returns]
        for name in sorted(self.info.used_named_gradients):
            yield f"{name} = {_CALL}.grad_of({names.index(name.removeprefix('grad_'))})"

    def _outputs(self) -> Iterator[int]:
        named: Sequence[str] = return_names(self.fn.func)
        found = differentiable_outputs(self.fn)
        if not named:
            yield 0
        for i, name in enumerate(named):
            if name in found:
                yield i
