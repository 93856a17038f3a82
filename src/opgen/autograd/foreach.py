"""Derive the gradients of foreach operators from those of the operator that they apply to each tensor.

Source of the rules: torchgen, see docs/reference/torchgen-differences.md.
"""

from __future__ import annotations

from typing import TypeAlias

from opgen.autograd.derivative import (
    Derivative,
    DifferentiabilityInfo,
    ForwardDerivative,
    SavedAttribute,
)
from opgen.autograd.differentiability import Infos
from opgen.autograd.formula import read_formula
from opgen.autograd.forward_formulas import FOREACH
from opgen.cpp.cpp_types import argument_type
from opgen.cpp.signatures import Binding
from opgen.cpp.type_values import TENSOR_LIST, CType, TypeContext, without_reference
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.function_schema import Argument, FunctionSchema, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.types import ListType, Type

# Operators whose formulas are written for the in-place variant.
_OF_INPLACE = ("_foreach_zero_",)
# Operators without the `alpha` of the operator that they apply.
_WITHOUT_ALPHA = frozenset(
    f"_foreach_{name}.{overload}"
    for name in ("add", "add_", "sub", "sub_")
    for overload in ("Scalar", "ScalarList")
)

# The gradients of operators by their root names, with those of libraries in front, and by their signatures.
InfosOfSchemas: TypeAlias = dict[str, dict[FunctionSchema, Infos]]


def derive_foreach(
    f: NativeFunction, functional: InfosOfSchemas, others: InfosOfSchemas
) -> tuple[DifferentiabilityInfo | None, bool]:
    """Return the gradients of a foreach operator, and whether they are its own.

    An in-place variant has the gradients of the operator that it applies, unchanged. They are None if that operator has no
    formulas.
    """
    inplace = f.func.kind() is SchemaKind.inplace
    found = _reference(f, functional)
    if found is None and inplace and str(f.func.name) in _OF_INPLACE:
        found = _reference(f, others)
    if found is None:
        return None, False
    reference, info = found
    return (info, False) if inplace else (_Deriver(f, reference, info).derive(), True)


def _reference(
    f: NativeFunction, infos: InfosOfSchemas
) -> tuple[FunctionSchema, DifferentiabilityInfo] | None:
    root = f.scoped_root.replace(FOREACH, "", 1)
    for schema, found in infos.get(root, {}).items():
        if DEFAULT_KEY in found and _applies(f, schema):
            return schema, found[DEFAULT_KEY]
    return None


def _applies(f: NativeFunction, reference: FunctionSchema) -> bool:
    """Return whether `f` applies the operator of a schema to each tensor."""
    name, operator = str(f.func.name), reference.name.name
    own, theirs = f.func.arguments.flat_non_out, reference.arguments.flat_non_out
    return (
        (not operator.inplace or name in _OF_INPLACE)
        and (name in _WITHOUT_ALPHA or len(own) == len(theirs))
        and all(b.type in (a.type, _element(a.type)) for a, b in zip(own, theirs))
    )


def _element(type: Type) -> Type | None:
    return type.elem if isinstance(type, ListType) else None


class _Deriver:
    """Derives the gradients of `f` from those of one operator, whose arguments have the names of `reference`."""

    def __init__(
        self, f: NativeFunction, reference: FunctionSchema, info: DifferentiabilityInfo
    ) -> None:
        self.f = f
        self.info = info
        self.context = TypeContext.of(f)
        theirs = reference.arguments.flat_non_out
        self.arguments: dict[str, Argument] = {
            b.name: a for a, b in zip(f.func.arguments.flat_non_out, theirs)
        }

    def derive(self) -> DifferentiabilityInfo:
        derivatives = tuple(self._derivative(d) for d in self.info.derivatives)
        wanted = {name for d in derivatives for name in d.var_names}
        inputs = tuple(
            Binding(a.name, self._type(a))
            for a in self.f.func.arguments.flat_non_out
            if a.name in wanted
        )
        return DifferentiabilityInfo(
            name=self.f.root_name,
            func=self.f,
            op=f"Foreach{self.info.op}{self.f.func.name.overload_name}",
            derivatives=derivatives,
            forward_derivatives=tuple(self._forward(d) for d in self.info.forward_derivatives),
            args_with_derivatives=inputs,
            non_differentiable_arg_names=(),
            output_differentiability=None,
            output_differentiability_condition=None,
            entry=self.info.entry,
        )

    def _type(self, argument: Argument) -> CType:
        return argument_type(
            argument.type, mutable=argument.is_write, symint=True, context=self.context
        )

    def _derivative(self, written: Derivative) -> Derivative:
        formula = written.formula.text.replace("grad", "grads[i]").replace("result", "result[i]")
        inputs = []
        for saved in written.saved_inputs:
            theirs = saved.expr.split(".")[0]
            argument = self.arguments[theirs]
            item = f"{argument.name}[i]" if isinstance(argument.type, ListType) else argument.name
            formula = formula.replace(saved.name, saved.expr.replace(theirs, item))
            ctype = without_reference(self._type(argument))
            inputs.append(SavedAttribute(argument.name, ctype, argument.name))
        outputs = tuple(
            SavedAttribute("result", TENSOR_LIST, "result") for _ in written.saved_outputs
        )
        names = tuple(self.arguments[name].name for name in written.var_names)
        return Derivative(
            names,
            read_formula(formula),
            written.formula,
            tuple(inputs),
            outputs,
            frozenset(),
            written.place,
        )

    def _forward(self, written: ForwardDerivative) -> ForwardDerivative:
        formula = written.formula.text.replace("result", "result[i]")
        names, types = list(written.var_names), list(written.var_types)
        tangents, primals = (
            list(written.required_inputs_fw_grad),
            list(written.required_inputs_primal),
        )
        pairs = zip(self.f.func.arguments.flat_non_out, self.info.func.func.arguments.flat_non_out)
        for own, theirs in pairs:
            if isinstance(own.type, ListType) and not own.type.is_tensor_like():
                formula = formula.replace(theirs.name, f"{own.name}[i]")
            elif own.type.is_tensor_like():
                for suffix in ("_p", "_t"):
                    formula = formula.replace(theirs.name + suffix, own.name + suffix)
            elif own.name != theirs.name:
                formula = formula.replace(theirs.name, own.name)
            for i, name in enumerate(names):
                if name == theirs.name:
                    names[i], types[i] = own.name, own.type
            tangents = [own.name if n == theirs.name else n for n in tangents]
            primals = [own.name if n == theirs.name else n for n in primals]
        return ForwardDerivative(
            tuple(names),
            tuple(types),
            read_formula(formula),
            written.place,
            tuple(tangents),
            tuple(primals),
            written.required_original_self_value,
            written.is_reusing_outplace_formula,
        )
