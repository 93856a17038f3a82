"""Derive the gradients of each operator that derivatives.yaml names.

Source of the rules: torchgen, see docs/reference/torchgen-differences.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.autograd.derivative import (
    Derivative,
    DifferentiabilityInfo,
    ForwardDerivative,
    save_variables,
)
from opgen.autograd.formula import Formula, read_formula
from opgen.autograd.formula_checks import (
    GradientNumbers,
    check_differentiable,
    check_expression,
    check_mask,
    check_names,
    check_results,
    check_rows,
    names_of_backward,
    names_of_forward,
)
from opgen.autograd.forward_formulas import forward_derivative, with_inputs
from opgen.cpp.cpp_types import CType, TypeContext, type_of_return, without_reference
from opgen.cpp.names import return_names
from opgen.cpp.signatures import Binding, Signatures
from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.suggestions import Vocabulary, did_you_mean, shorten
from opgen.model.backend import WrittenName
from opgen.model.derivatives import (
    DEFAULT_KEY,
    DerivativeEntry,
    DerivativesFile,
    FormulaRow,
    FormulaTable,
    TextPlace,
)
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.profile import Profile
from opgen.model.registry import Registry
from opgen.parse.schema.grammar import parse_function_schema

# The gradients of an operator by dispatch key.
Infos: TypeAlias = dict[str, DifferentiabilityInfo]

# A schema, or the name of an operator.
_SCHEMA = re.compile(
    r"\s*(?:(?P<namespace>\w+)::)?"
    r"(?P<schema>(?P<operator>(?P<name>\w+)(?:\.\w+)?)\s*(?P<arguments>\(.*\).*)?)",
    re.DOTALL,
)
_NOT_OF_A_BACKEND = {"Autograd", "AutogradOther", "AutogradFunctionality", "AutogradMAIA"}
# The keys of `dispatch`.
KEYS = (
    DEFAULT_KEY,
    *(
        name
        for name in DispatchKey.__members__
        if name.startswith("Autograd") and name not in _NOT_OF_A_BACKEND
    ),
)
# Names that generated code declares in addition to the arguments.
_OWN_NAMES = ("grad_input_mask", "result")
# Attributes that would make sizes plain numbers, and what to write.
_OF_INTEGERS = {
    "sizes": (".sizes()", "sym_sizes()"),
    "size": (".size(i)", "sym_size(i)"),
    "strides": (".strides()", "sym_strides()"),
}


def derive_infos(
    registry: Registry, files: DerivativesFile, signatures: Signatures, diagnostics: Diagnostics
) -> dict[str, Infos]:
    """Return the gradients by the full name of the operator that the formulas are written for.

    The operators of view groups that copy have those of the view, if they have none of their own. Entries with errors,
    which are reported, are left out.
    """
    builder = _Builder(
        registry,
        signatures,
        diagnostics,
        is_found=files.is_found,
        has_includes=bool(files.includes),
    )
    for entry in files.entries:
        builder.add(entry)
    for group in registry.view_groups:
        own = builder.infos.get(group.view.full_name)
        copy = group.view_copy
        if own is None or copy is None or copy.full_name in builder.infos:
            continue
        builder.infos[copy.full_name] = {
            key: replace(
                info,
                name=f"{info.name}_copy",
                func=copy,
                op=None if info.op is None else f"{info.op}_copy",
            )
            for key, info in own.items()
        }
    return builder.infos


class _Operator(Struct, frozen=True):
    """The operator that an entry is for, as its formulas see it."""

    # The name in the entry, without the overload.
    name: str
    func: NativeFunction
    # The operator whose schema the entry has: perhaps another variant.
    named: NativeFunction
    parameters: tuple[Binding, ...]
    outputs: tuple[tuple[str, CType], ...]
    output_differentiability: tuple[bool, ...] | None

    @property
    def variables(self) -> Iterator[tuple[str, CType]]:
        return ((b.name, without_reference(b.type)) for b in self.parameters)

    @property
    def available_named_gradients(self) -> tuple[str, ...]:
        """The names of the gradients of all outputs that have a name and a gradient."""
        returns = self.func.func.returns
        flags = self.output_differentiability or (True,) * len(returns)
        return tuple(
            f"grad_{value.name}"
            for value, flag in zip(returns, flags)
            if flag and value.name is not None and value.type.is_tensor_like()
        )


class _Builder(Struct):
    registry: Registry
    signatures: Signatures
    diagnostics: Diagnostics
    is_found: bool = False
    # Whether the author's headers may declare more values.
    has_includes: bool = False
    infos: dict[str, Infos] = field(default_factory=dict)
    _numbers: Counter[str] = field(default_factory=Counter)
    _numbers_of_gradients: GradientNumbers = field(default_factory=lambda: GradientNumbers(()))
    _entries: dict[str, DerivativeEntry] = field(default_factory=dict)
    # Written operators and generated ones by their names: with overload, without, and without marks.
    _by_name: dict[str, list[NativeFunction]] = field(default_factory=dict)
    _by_base: dict[str, list[NativeFunction]] = field(default_factory=dict)
    _by_root: dict[str, list[NativeFunction]] = field(default_factory=dict)
    _vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        self._numbers_of_gradients = GradientNumbers(self.registry.functions)
        for f in self.registry.functions:
            self._by_name.setdefault(str(f.func.name), []).append(f)
            self._by_base.setdefault(str(f.func.name.name), []).append(f)
            self._by_root.setdefault(f.scoped_root, []).append(f)

    def add(self, entry: DerivativeEntry) -> None:
        """Derive the gradients of one entry. An error is reported, and the entry left out."""
        operator = self._operator(entry)
        if operator is None:
            return
        full_name = operator.func.full_name
        first = self._entries.setdefault(full_name, entry)
        if first is not entry:
            message = f"'{full_name}' has formulas already"
            labels = ((first.name.span, "here"),)
            hint = "join both entries, or remove one"
            self._error("E1211", message, entry.name.span, labels=labels, hint=hint)
            return
        infos = {}
        for table in entry.tables:
            info = self._info(operator, entry, table)
            if info is None:
                return
            infos[table.key.text] = info
        self.infos[full_name] = infos

    def _error(self, code: str, message: str, span: Span, **rest: object) -> None:
        self.diagnostics.error(code, message, span, **rest)  # type: ignore[arg-type]

    # The operator.

    def _operator(self, entry: DerivativeEntry) -> _Operator | None:
        written = entry.name.text
        match = _SCHEMA.fullmatch(written)
        if match is None:
            message = f"'{shorten(written)}' is not the schema of an operator"
            hint = "write the text after 'func:', from the name to the returns"
            self._error("E1210", message, entry.name.span, hint=hint)
            return None
        namespace = match["namespace"] or entry.namespace
        named = self._find(match, namespace)
        if named is None:
            self._report_unknown(entry.name, match["name"], namespace)
            return None
        func = self._canonical(named, match["name"])
        plain = [s for s in self.signatures.cpp(func, method=False) if not s.faithful]
        parameters = plain[-1].arguments
        taken = [b.name for b in parameters if b.name in _OWN_NAMES]
        for name in taken:
            message = f"'{func.full_name}' has an argument '{name}'"
            labels = ((func.argument_span(name), "this argument"),)
            hint = "rename the argument: formulas use this name for something else"
            self._error("E1212", message, entry.name.span, labels=labels, hint=hint)
        if taken:
            return None
        context = TypeContext.of(func)
        names = (n if n != "self" else "result" for n in return_names(func))
        types = (without_reference(type_of_return(func, r, context)) for r in func.func.returns)
        outputs = tuple(zip(names, types))
        flags, count = entry.output_differentiability, len(func.func.returns)
        if flags is not None and len(flags) != count:
            message = f"'output_differentiability' has {len(flags)} items, and '{func.full_name}' has {count} outputs"
            self._error("E1213", message, entry.output_span or entry.name.span)
            return None
        return _Operator(match["name"], func, named, parameters, outputs, flags)

    def _find(self, written: re.Match[str], namespace: str | None) -> NativeFunction | None:
        """Return the operator of a schema. Outside of torchgen's profile, white space is free, and its name is enough."""
        schema, is_name = written["schema"], written["arguments"] is None
        parsed = None
        for f in self._by_name.get(written["operator"], []):
            if namespace in (None, f.namespace):
                if str(f.func) == schema:
                    return f
                is_library = f.func.profile is Profile.library
                if is_library and parsed is None and not is_name:
                    parsed = parse_function_schema(schema, Diagnostics(), profile=f.func.profile)
                if is_library and (is_name or str(f.func) == str(parsed)):
                    return f
        return None

    def _report_unknown(self, name: WrittenName, base: str, namespace: str | None) -> None:
        message = f"no operator has the schema '{shorten(name.text)}'"
        same = self._by_base.get(base, [])
        if same and all(namespace not in (None, f.namespace) for f in same):
            hint = f"'{base}' is an operator of '{same[0].namespace}': write '{same[0].namespace}::{base}'"
            self._error("E1210", message, name.span, hint=hint)
            return
        if same:
            notes = [f"'{base}' is declared as '{f.func}'" for f in same[:5]]
            hint = "copy the text after 'func:' of its entry, with all defaults"
            self._error("E1210", message, name.span, notes=notes, hint=hint)
            return
        notes = []
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self._by_base)
            if self.is_found:
                # With the first error only: it is the same for all.
                path = name.span.source.path
                notes.append(
                    f"'{path}' is read because it is in the folder of the schema file; if it is for other operators, "
                    "move it, or name another file with --derivatives"
                )
        suggestion = self._vocabulary.did_you_mean(base)
        self._error("E1210", message, name.span, notes=notes, hint=suggestion)

    def _canonical(self, named: NativeFunction, name: str) -> NativeFunction:
        """Return the variant that the formulas are for: that of this name, or the in-place one."""
        related = self._by_root[named.scoped_root]
        functions = [f for f in related if f.signature == named.signature]
        for f in functions:
            func = f.func
            if not func.is_functional_fn() and not func.is_out_fn() and str(func.name.name) == name:
                return f
        return functions[0]

    # Its formulas.

    def _info(
        self, operator: _Operator, entry: DerivativeEntry, table: FormulaTable
    ) -> DifferentiabilityInfo | None:
        key = table.key.text
        if key not in KEYS:
            message = f"'{shorten(key)}' is not a key of 'dispatch' here"
            hint = (
                did_you_mean(key, KEYS) or f"write {DEFAULT_KEY} or the Autograd key of a backend"
            )
            self._error("E1215", message, table.key.span, hint=hint)
            return None
        errors = self.diagnostics.error_count
        self._check_own_kernel(operator.func, table)
        check_results(
            operator.named,
            operator.func,
            operator.output_differentiability,
            entry,
            table,
            self.diagnostics,
        )
        if self.diagnostics.error_count > errors:
            return None
        derivatives, forward, without = self._rows(operator, table)
        wanted = {name for d in derivatives for name in d.var_names}
        self._check_overlap(wanted, without, table)
        if self.diagnostics.error_count > errors:
            return None
        inputs = tuple(b for b in operator.parameters if b.name in wanted)
        names = tuple(b.name for b in operator.parameters)
        forward = with_inputs(
            operator.func, operator.name, names, inputs, derivatives, forward, self.diagnostics
        )
        self._check_gradients(derivatives)
        if self.diagnostics.error_count > errors:
            return None
        return DifferentiabilityInfo(
            name=operator.name,
            func=operator.func,
            op=self._node_name(operator.name, key) if inputs else None,
            derivatives=tuple(derivatives),
            forward_derivatives=forward,
            args_with_derivatives=inputs,
            non_differentiable_arg_names=tuple(name.text for name in without),
            output_differentiability=entry.output_differentiability,
            output_differentiability_condition=entry.condition,
            entry=entry,
        )

    def _check_own_kernel(self, f: NativeFunction, table: FormulaTable) -> None:
        """Report a kernel of the author's for the key at which the node is recorded."""
        name = "Autograd" if table.key.text == DEFAULT_KEY else table.key.text
        key = DispatchKey[name]
        if table.rows and f.find_kernel(key) is not None:
            message = f"'{f.full_name}' has a kernel for {name}, which records its gradients"
            labels = ((f.spans.kernel(key), "this kernel"),)
            hint = "remove the formulas, or this row of 'dispatch'"
            span = table.rows[0].span
            self._error("E1237", message, span, labels=labels, hint=hint)

    def _node_name(self, name: str, key: str) -> str:
        """Return the next name of a node: `MulBackward0`."""
        camel_case = "".join(part.title() for part in name.split("_"))
        prefix = f"{camel_case}Backward".replace("ForwardBackward", "Backward")
        if key != DEFAULT_KEY:
            prefix += key
        number = self._numbers[prefix]
        self._numbers[prefix] += 1
        return f"{prefix}{number}"

    def _rows(
        self, operator: _Operator, table: FormulaTable
    ) -> tuple[list[Derivative], tuple[ForwardDerivative, ...], list[WrittenName]]:
        """Return the backward formulas, the forward formulas, and the names without a gradient."""
        derivatives: list[Derivative] = []
        forward: list[ForwardDerivative] = []
        without: list[WrittenName] = []
        f = operator.func
        check_rows(f, table.rows, self.diagnostics)
        check_differentiable(f, operator.output_differentiability, table.rows, self.diagnostics)
        arguments = {b.name for b in operator.parameters}
        returned = {r.name for r in operator.func.func.returns}
        of_backward, of_forward = names_of_backward(f), names_of_forward(f)
        for row in sorted(table.rows, key=lambda row: row.key):
            for name in row.names:
                if name.text in arguments and name.text in returned:
                    message = f"'{name.text}' is an argument and an output"
                    self._error("E1216", message, name.span, hint="rename the output")
            if row.names[0].text not in arguments:
                found = forward_derivative(operator.func, row, arguments, self.diagnostics)
                if found is not None:
                    self._check_text(f, row, of_forward)
                    forward.append(found)
            elif row.formula.text.lower().strip() == "non_differentiable":
                without += row.names
            else:
                self._check_text(f, row, of_backward)
                check_mask(row, self.diagnostics)
                self._numbers_of_gradients.check(row, self.diagnostics)
                derivatives.append(self._derivative(operator, row))
        return derivatives, tuple(forward), without

    def _check_text(self, f: NativeFunction, row: FormulaRow, known: tuple[str, ...]) -> None:
        """Report what is no expression of C++, and names that nothing declares."""
        errors = self.diagnostics.error_count
        if f.is_library:
            check_expression(row.formula, known, self.diagnostics)
        if self.diagnostics.error_count == errors:
            is_complete = f.is_library and not self.has_includes
            check_names(row.formula, known, self.diagnostics, is_complete=is_complete)

    def _derivative(self, operator: _Operator, row: FormulaRow) -> Derivative:
        written, place = read_formula(row.formula.text), row.formula.place
        names = tuple(name.text for name in row.names)
        known = {b.name for b in operator.parameters} | {name for name, _ in operator.outputs}
        self._check_reads(written, place, names, known)
        formula, inputs, outputs = save_variables(written, operator.variables, operator.outputs)
        for index, node in written.items("grads"):
            if index >= len(operator.outputs):
                message = f"'{operator.func.full_name}' has no output {index}"
                self._error("E1217", message, place.part(node.start, node.end))
        named = frozenset(n for n in operator.available_named_gradients if formula.uses(n))
        return Derivative(names, formula, written, inputs, outputs, named, place)

    def _check_reads(
        self, formula: Formula, place: TextPlace, names: tuple[str, ...], known: set[str]
    ) -> None:
        """Report attributes that would make sizes plain numbers, and strides that are not there to be saved."""
        for node in formula.calls("method"):
            read, of = node.text, node.parts[0]
            given = "".join(formula.text_of(part) for part in node.parts[1:])
            is_plain = given.lstrip("-").isdigit() if read == "size" else not given
            if read in _OF_INTEGERS and is_plain:
                text, instead = _OF_INTEGERS[read]
                message = f"a formula cannot use '{text}', which makes sizes plain numbers"
                span = place.part(of.end, node.end)
                self._error("E1218", message, span, hint=f"write '{instead}'")
            if (
                read == "sym_strides"
                and of.kind == "name"
                and of.text in known
                and names != (of.text,)
            ):
                message = f"the strides of '{of.text}' can be used only in the formula of its own gradient"
                self._error("E1219", message, place.part(node.start, node.end))

    def _check_overlap(
        self, wanted: set[str], without: Iterable[WrittenName], table: FormulaTable
    ) -> None:
        for name in without:
            if name.text in wanted:
                other = next(
                    n
                    for row in table.rows
                    for n in row.names
                    if n.text == name.text and n is not name
                )
                message = f"'{name.text}' has a formula and is marked non_differentiable"
                labels = ((other.span, "here, too"),)
                self._error("E1220", message, name.span, labels=labels)

    def _check_gradients(self, derivatives: list[Derivative]) -> None:
        """Report formulas that mix the ways to name the gradients of the outputs.

        They would compile, and be wrong where only some outputs have a gradient.
        """
        single = next((d for d in derivatives if d.formula.uses("grad")), None)
        listed = next((d for d in derivatives if d.formula.uses("grads")), None)
        named = next((d for d in derivatives if d.named_gradients), None)
        if single is not None and listed is not None:
            message = "these formulas mix 'grad' and 'grads'"
            labels = ((_span_of(listed, "grads"), "'grads'"),)
            hint = "write 'grads[0]' in place of 'grad'"
            span = _span_of(single, "grad")
            self._error("E1221", message, span, labels=labels, hint=hint)
            return
        other = single or listed
        if named is not None and other is not None:
            word = "grad" if single is not None else "grads"
            name = min(named.named_gradients)
            message = f"these formulas mix '{word}' and '{name}'"
            labels = ((_span_of(named, name), f"'{name}'"),)
            self._error("E1221", message, _span_of(other, word), labels=labels)
            return
        indices = [index for d in derivatives for index, _ in d.formula.items("grads")]
        uses_list = sum(len([*d.formula.find_all("grads")]) for d in derivatives)
        if listed is not None and len(indices) == uses_list and set(indices) == {0}:
            message = "these formulas use no gradient but 'grads[0]'"
            hint = "write 'grad' if the first output is the only one with a gradient"
            self._error("E1222", message, _span_of(listed, "grads"), hint=hint)


def _span_of(derivative: Derivative, name: str) -> Span:
    """Return the place of the first use of a name in a formula."""
    found = derivative.original_formula.find(name)
    return derivative.place.span if found is None else derivative.place.part(*found)
