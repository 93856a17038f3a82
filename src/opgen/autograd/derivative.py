"""Define the gradients of operators as values: what `differentiability` derives from the formulas of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct, field

from opgen.autograd.formula import Formula
from opgen.cpp.signatures import Binding
from opgen.cpp.type_values import CType
from opgen.diagnostics import Span
from opgen.model.derivatives import DerivativeEntry, TextPlace, WrittenFormula
from opgen.model.function_schema import Argument
from opgen.model.native_function import NativeFunction
from opgen.model.types import Type


class SavedAttribute(Struct, frozen=True):
    """A value that an operator saves for its backward: an argument, an output, or an attribute of one.

    `expr` is the C++ expression whose value is saved; `name` is the field of the node.
    """

    name: str
    type: CType
    expr: str


class Derivative(Struct, frozen=True):
    """The backward formula for the gradients of the arguments `var_names`.

    In `formula`, attributes are replaced by the fields that they are saved in; `original_formula` is as written.
    """

    var_names: tuple[str, ...]
    formula: Formula
    original_formula: Formula
    saved_inputs: tuple[SavedAttribute, ...]
    saved_outputs: tuple[SavedAttribute, ...]
    named_gradients: frozenset[str]
    place: TextPlace


class ForwardDerivative(Struct, frozen=True):
    """The forward formula for the tangents of the outputs `var_names`.

    `required_inputs_fw_grad` and `required_inputs_primal` are the arguments whose tangents and primals it uses. With
    `required_original_self_value`, it uses the value of `self` before the operator wrote it.
    `is_reusing_outplace_formula` is whether it is that of the functional variant.
    """

    var_names: tuple[str, ...]
    var_types: tuple[Type, ...]
    formula: Formula
    place: TextPlace
    required_inputs_fw_grad: tuple[str, ...] = ()
    required_inputs_primal: tuple[str, ...] = ()
    required_original_self_value: bool = False
    is_reusing_outplace_formula: bool = False


class DifferentiabilityInfo(Struct, frozen=True):
    """The gradients of one operator for one dispatch key.

    `func` is the variant that the formulas are written for. `op` is the name of the node; None without backward
    formulas. `args_with_derivatives` are the parameters that have a backward formula, in their order.
    `output_differentiability` says for each output whether it has a gradient; None if all have. With
    `output_differentiability_condition`, the one output has a gradient if that C++ expression is true. `entry` is where
    the formulas are written.
    """

    name: str
    func: NativeFunction
    op: str | None
    derivatives: tuple[Derivative, ...]
    forward_derivatives: tuple[ForwardDerivative, ...]
    args_with_derivatives: tuple[Binding, ...]
    non_differentiable_arg_names: tuple[str, ...]
    output_differentiability: tuple[bool, ...] | None
    output_differentiability_condition: WrittenFormula | None
    entry: DerivativeEntry

    @property
    def has_derivatives(self) -> bool:
        return bool(self.args_with_derivatives)

    @property
    def unmentioned_tensors(self) -> tuple[Argument, ...]:
        """The tensors among the arguments of `func` of which no row says anything."""
        named = {b.name for b in self.args_with_derivatives}.union(
            self.non_differentiable_arg_names
        )
        every = self.func.func.arguments.flat_all
        return tuple(a for a in every if a.type.is_tensor_like() and a.name not in named)

    @property
    def all_saved_inputs(self) -> tuple[SavedAttribute, ...]:
        """What the formulas save of the arguments, each field once."""
        return _first_of_each(d.saved_inputs for d in self.derivatives)

    @property
    def all_saved_outputs(self) -> tuple[SavedAttribute, ...]:
        """What the formulas save of the outputs, each field once."""
        return _first_of_each(d.saved_outputs for d in self.derivatives)

    @property
    def used_named_gradients(self) -> frozenset[str]:
        return frozenset().union(*(d.named_gradients for d in self.derivatives))


class DifferentiableFunction(Struct, frozen=True, dict=True):
    """An operator with the gradients that belong to it, by dispatch key; none if no formula does.

    `forward` holds the forward formulas of each key as this variant uses them.
    """

    func: NativeFunction
    infos: Mapping[str, DifferentiabilityInfo]
    forward: Mapping[str, tuple[ForwardDerivative, ...]]

    @cached_property
    def has_derivatives(self) -> bool:
        return any(info.has_derivatives for info in self.infos.values())


def _first_of_each(groups: Iterable[tuple[SavedAttribute, ...]]) -> tuple[SavedAttribute, ...]:
    found: dict[str, SavedAttribute] = {}
    for saved in (saved for group in groups for saved in group):
        found.setdefault(saved.name, saved)
    return tuple(found.values())


class AuthorFunction(Struct, frozen=True):
    """A function that an author's header declares, and a formula calls.

    Types are written as in the header, so they are valid in `namespace`. `conditions` are those of `#if` around the
    declaration. `header` is the header that declares it, as written after `#include`, `operator` the full name of the
    first operator whose formulas call it, `of` what that formula is for (`self`, or `result` if it `is_forward`), and `place`
    the call.
    """

    namespace: str
    name: str
    returns: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    conditions: tuple[str, ...]
    header: str
    operator: str
    of: str
    is_forward: bool
    place: Span

    @property
    def full_name(self) -> str:
        """`mylib::scale_backward`."""
        return f"{self.namespace}::{self.name}" if self.namespace else self.name

    @property
    def declaration(self) -> str:
        """`Tensor scale_backward(const Tensor& grad, double factor)`."""
        parameters = (f"{t} {n}".rstrip() for t, n in zip(self.types, self.names))
        return f"{self.returns} {self.name}({', '.join(parameters)})"


class FormulaFiles(Struct, frozen=True):
    """The headers that formulas need, with the spelling after `#include`, and the functions that they declare.

    `functions` are those that may be stubs. `declared` are the names of all, each with its namespace. `short_names` has the
    name of each file of formulas, by its path: what compilers' errors call it.
    """

    includes: tuple[str, ...] = ()
    functions: tuple[AuthorFunction, ...] = ()
    declared: frozenset[tuple[str, str]] = frozenset()
    short_names: Mapping[str, str] = field(default_factory=dict)
