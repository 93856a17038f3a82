"""Determine which operators have the gradients of which formulas; foreach operators have those of the operator that they apply.

Source of the rules: torchgen, see docs/reference/torchgen-differences.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from opgen.autograd.derivative import (
    Derivative,
    DifferentiabilityInfo,
    DifferentiableFunction,
    ForwardDerivative,
    SavedAttribute,
)
from opgen.autograd.differentiability import Infos
from opgen.autograd.formula import read_formula
from opgen.autograd.forward_formulas import FOREACH, inplace_derivative
from opgen.autograd.kernels import differentiable_outputs
from opgen.cpp.cpp_types import TENSOR_LIST, CType, TypeContext, argument_type, without_reference
from opgen.cpp.signatures import Binding
from opgen.diagnostics import Diagnostics
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.function_schema import Argument, FunctionSchema, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.model.types import ListType

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
        and all(
            b.type == a.type or (isinstance(a.type, ListType) and b.type == a.type.elem)
            for a, b in zip(own, theirs)
        )
    )


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


_GENERATED = "generated"


def match_infos(
    registry: Registry, infos: Mapping[str, Infos], diagnostics: Diagnostics
) -> tuple[DifferentiableFunction, ...]:
    """Return every operator with its gradients, in the order of the registry.

    An operator has the gradients of its own entry, else those of its functional variant. A generated functional variant
    has those of the variant that it is generated from, and a foreach operator those of the operator that it applies to
    each tensor.
    """
    matcher = _Matcher(registry, infos, diagnostics)
    return tuple(matcher.match(f) for f in registry.functions)


class _Matcher:
    def __init__(
        self, registry: Registry, infos: Mapping[str, Infos], diagnostics: Diagnostics
    ) -> None:
        self.infos = infos
        self.diagnostics = diagnostics
        # By root name: the schemas with formulas, functional and others.
        self.functional: InfosOfSchemas = {}
        self.others: InfosOfSchemas = {}
        for full_name, found in infos.items():
            f = registry.find_function(full_name)
            assert f is not None
            functional = f.func.kind() is SchemaKind.functional
            table = (self.functional if functional else self.others).setdefault(f.scoped_root, {})
            table[f.plain_signature] = found

    def match(self, f: NativeFunction) -> DifferentiableFunction:
        infos, is_own = self._find(f)
        if not infos:
            return DifferentiableFunction(f, {}, {})
        if f.func.kind() is SchemaKind.inplace:
            for info in infos.values():
                self._check_strides(f, info)
                self._check_written(f, info)
        if any(info.has_derivatives for info in infos.values()) and not f.is_abstract:
            # With all rows for backends ignored, its gradients are those of the operators that it is made of.
            if not f.has_ignored_rows:
                self._report_composite(f, infos)
            return DifferentiableFunction(f, {}, {})
        forward = {
            key: (
                inplace_derivative(f, info, is_own=is_own, diagnostics=self.diagnostics)
                if info.forward_derivatives and f.func.kind() is SchemaKind.inplace
                else info.forward_derivatives
            )
            for key, info in infos.items()
        }
        found = DifferentiableFunction(f, infos, forward)
        for key, formulas in forward.items():
            self._check_outputs(found, key, formulas)
        return found

    def _report_composite(self, f: NativeFunction, infos: Infos) -> None:
        """Report formulas that would never be used, because the operator decomposes into others."""
        place = next(d.place for info in infos.values() for d in info.derivatives)
        message = f"'{f.full_name}' is made of other operators, whose gradients it has"
        hint = "remove the formulas, or give it a kernel for a backend or CompositeExplicitAutograd"
        labels = ((f.span, "this operator"),)
        self.diagnostics.error("E1229", message, place.span, hint=hint, labels=labels)

    def _check_outputs(
        self, fn: DifferentiableFunction, key: str, formulas: tuple[ForwardDerivative, ...]
    ) -> None:
        """Report forward formulas that do not serve every differentiable output."""
        outputs = differentiable_outputs(fn, key)
        served = sum(len(formula.var_names) for formula in formulas)
        if formulas and outputs and served != len(outputs):
            message = (
                f"'{fn.func.full_name}' has forward formulas for {served} of "
                f"{len(outputs)} differentiable outputs: {', '.join(outputs)}"
            )
            self.diagnostics.error("E1230", message, formulas[0].place.span)

    def _find(self, f: NativeFunction) -> tuple[Infos, bool]:
        """Return the gradients of `f`, and whether they are written for it."""
        generated = _GENERATED in f.tags
        if generated and f.func.kind() is SchemaKind.out:
            return {}, False
        own = self.infos.get(f.full_name)
        if own is not None:
            return own, True
        foreach = f.root_name.startswith(FOREACH)
        if not foreach and (found := _of_signature(f, self.functional)) is not None:
            return found, False
        if generated and (found := _of_signature(f, self.others)) is not None:
            return (found if self._check_saved(f, found) else {}), False
        return self._foreach(f) if foreach else ({}, False)

    def _foreach(self, f: NativeFunction) -> tuple[Infos, bool]:
        """Return the gradients of a foreach operator, and whether they are its own.

        An in-place variant has the gradients of the operator that it applies, unchanged. There are none if that operator
        has no formulas.
        """
        inplace = f.func.kind() is SchemaKind.inplace
        found = _reference(f, self.functional)
        if found is None and inplace and str(f.func.name) in _OF_INPLACE:
            found = _reference(f, self.others)
        if found is None:
            return {}, False
        reference, info = found
        derived = info if inplace else _Deriver(f, reference, info).derive()
        return {DEFAULT_KEY: derived}, not inplace

    def _check_saved(self, f: NativeFunction, infos: Infos) -> bool:
        """Report formulas that save `self` of an operator that writes it: its functional form does not write it."""
        for info in infos.values():
            if any("self" in saved.name for saved in info.all_saved_inputs):
                message = (
                    f"'{f.full_name}' is generated from '{info.func.full_name}' and would have its "
                    "formulas, which save 'self'"
                )
                hint = f"add an entry for '{f.func}'"
                span = info.derivatives[0].place.span
                self.diagnostics.error("E1228", message, span, hint=hint)
                return False
        return True

    def _check_written(self, f: NativeFunction, info: DifferentiabilityInfo) -> None:
        """Report a written argument without a gradient: a use of its old value elsewhere would not be noticed."""
        if False in (info.output_differentiability or ()):
            message = f"'{f.full_name}' writes its argument, so its output has a gradient"
            if info.func is f:
                hint = (
                    "remove 'output_differentiability', and mark the argument as non_differentiable"
                )
            else:
                hint = f"add an entry for '{f.func}', with a formula for 'self'"
            span = info.entry.output_span or info.entry.name.span
            self.diagnostics.error("E1214", message, span, hint=hint)

    def _check_strides(self, f: NativeFunction, info: DifferentiabilityInfo) -> None:
        for derivative in info.derivatives:
            saved = (s.expr for s in derivative.saved_inputs)
            if "self" in derivative.var_names and any("strides_or_error" in e for e in saved):
                message = f"'{f.full_name}' writes 'self', so its strides cannot be saved"
                span = derivative.place.span
                self.diagnostics.error("E1219", message, span)


def _of_signature(f: NativeFunction, infos: InfosOfSchemas) -> Infos | None:
    table = infos.get(f.scoped_root)
    return None if table is None else table.get(f.plain_signature)
