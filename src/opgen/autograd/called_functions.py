"""Describe the words of formulas; warn about functions that they call and nothing declares, and say what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.formula import Formula, Node, read_formula
from opgen.autograd.formula_checks import called_functions, called_members
from opgen.autograd.kernels import SUFFIXES
from opgen.cpp.cpp_types import TypeContext, TypeSpelling, spell, type_of_return
from opgen.cpp.names import cpp_name
from opgen.cpp.signatures import Signatures
from opgen.data import read_sections, table_rows
from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.suggestions import Vocabulary
from opgen.model.derivatives import FormulaRow
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace

# The functions that generated code declares for formulas, on both targets (`opgen::autograd::formulas`).
HELPERS = (
    *("not_implemented", "not_implemented_list", "wrap_opt_if", "handle_r_to_c", "to_args_sizes"),
    *("to_args_sizes_symint", "to_args_scalartypes", "strides_or_error", "toNonOptTensor"),
    *("toNonOptFwGrad", "toNonOptPrimal", "isFwGradDefined", "zeros_like", "TensorGeometry"),
    *("isDifferentiableType", "conj", "real", "where", "sum_to"),
)
# Those of `HELPERS` that are ATen's own functions on target torch.
HELPERS_OF_ATEN = frozenset(("conj", "real", "where", "zeros_like"))
# The keys of an entry besides the names of arguments and outputs.
FORMULA_KEYS = ("name", "output_differentiability", "dispatch")
# Formulas that are a word of their own.
BACKWARD_FORMS: Mapping[str, str] = {"non_differentiable": "The argument has no gradient."}
FORWARD_FORMS = ("auto_linear", "auto_element_wise")
_GRADIENTS = ("grad", "grads", "grad_input_mask", "retain_variables")
# Where docs/reference/derivatives.md has them.
HEADER, ENTRY, FUNCTIONS, FORMS = "The header", "Entries", "Functions", "Forward formulas"
_VALUES = "Names in a backward formula"


@cache
def formula_words(heading: str) -> Mapping[str, str]:
    """Return what words mean, in Markdown: those in the table below a heading of the page."""
    found: dict[str, str] = {}
    for term, meaning in table_rows(read_sections("reference/derivatives")[heading]):
        for word in re.findall(r"(?:^|, `)(\w+)(?![\w.])", term):
            found.setdefault(word, f"{meaning[0].upper()}{meaning[1:]}.")
    return found


def describe_word(name: str, f: NativeFunction) -> str | None:
    """Return what a word means in the formulas of `f`, in Markdown; None for words of C++ and of other libraries."""
    described = {**formula_words(FUNCTIONS), **BACKWARD_FORMS, **formula_words(FORMS)}
    return {**described, **dict(backward_values(f)), **dict(forward_values(f))}.get(name)


def describe_key(name: str, f: NativeFunction | None) -> str | None:
    """Return what a key of an entry for `f` means; None if it is neither an argument nor an output."""
    if name in FORMULA_KEYS:
        return formula_words(ENTRY)[name]
    if f is None:
        return None
    for argument in f.func.arguments.flat_all:
        if argument.name == name:
            return f"The gradient of the argument `{argument}`."
    if name in dict(_outputs(f)):
        return f"The tangent of the output `{name}`."
    return None


def backward_values(f: NativeFunction) -> Iterator[tuple[str, str]]:
    """Yield the values that a backward formula can use, with a description of each."""
    for argument in f.func.arguments.flat_all:
        yield argument.name, f"The argument `{argument}` of `{f.full_name}`, as it was in the call."
    yield from _outputs(f)
    yield from ((name, formula_words(_VALUES)[name]) for name in _GRADIENTS)
    for value in f.func.returns:
        if value.name is not None:
            yield f"grad_{value.name}", f"The gradient of the output `{value.name}`."


def forward_values(f: NativeFunction) -> Iterator[tuple[str, str]]:
    """Yield the values that a forward formula can use, with a description of each."""
    for argument in f.func.arguments.flat_all:
        if argument.type.is_tensor_like():
            yield f"{argument.name}_p", f"The value of the argument `{argument.name}`."
            yield f"{argument.name}_t", f"The tangent of the argument `{argument.name}`: zeros if it has none."
        else:
            yield argument.name, f"The argument `{argument}` of `{f.full_name}`."
    yield from _outputs(f)


def _outputs(f: NativeFunction) -> Iterator[tuple[str, str]]:
    returns = f.func.returns
    for index, value in enumerate(returns):
        name = value.name or ("result" if len(returns) == 1 else f"result{index}")
        yield name, f"The output `{name}` of `{f.full_name}`."


_TENSOR = "const Tensor&"
_OF_PYTORCH = ("at", "c10", "torch")
# What an argument reads if it is a symbolic size, or a list of them.
_SYMBOLS = frozenset(("sym_sizes", "sym_strides", "sym_numel", "sym_size"))


class Call(Struct, frozen=True):
    """A call of a function in a formula that is no operator, and no function that opgen declares for formulas.

    The formula is that of `row`, among the gradients `info`. `node` is the call, and `name` the name of the function that
    generated code calls.
    """

    info: DifferentiabilityInfo
    row: FormulaRow
    node: Node
    name: str

    @property
    def formula(self) -> Formula:
        return read_formula(self.row.formula.text)

    @property
    def passed(self) -> tuple[str, ...]:
        """The arguments of the call."""
        return tuple(map(self.formula.text_of, self.node.parts))

    @property
    def is_forward(self) -> bool:
        """Whether the formula computes a tangent."""
        arguments = self.info.func.func.arguments.flat_all
        return all(a.name != self.row.names[0].text for a in arguments)

    @property
    def span(self) -> Span:
        return _place(self.row, self.node)


def calls_of_functions(
    functions: Sequence[DifferentiableFunction], *, symint_overloads: bool
) -> Iterator[Call]:
    """Yield the calls of functions that are no operators and no helpers.

    Without `symint_overloads`, generated code calls `f` where the formula calls `f_symint`.
    """
    operators = operator_names(functions)
    for info, row, formula in _formulas(_infos(functions)):
        for node in called_functions(formula, ("at", operator_namespace(info.func.namespace))):
            name = node.text if symint_overloads else node.text.removesuffix("_symint")
            if name not in HELPERS and SUFFIXES.sub("", name) not in operators:
                yield Call(info, row, node, name)


def warn_of_unknown_members(
    functions: Sequence[DifferentiableFunction],
    members: Collection[str],
    diagnostics: Diagnostics,
    *,
    has_methods: bool,
) -> None:
    """Report members that formulas of libraries call, and that are not among `members`; each name once.

    If the target `has_methods`, operators can be methods of class Tensor.
    """
    of_tensor = (fn.func for fn in functions if has_methods and Variant.method in fn.func.variants)
    methods = {SUFFIXES.sub("", str(cpp_name(f.func))) for f in of_tensor}
    known = Vocabulary((*sorted(methods), *sorted(members)))
    seen: set[str] = set()
    for _, row, formula in _formulas(_infos(fn for fn in functions if fn.func.is_library)):
        for node in called_members(formula):
            name = node.text
            plain = name.removesuffix("_symint")
            if name not in seen and plain not in methods and plain not in members:
                seen.add(name)
                message = f"no class has a method '{name}'"
                hint = known.did_you_mean(plain) or "call a function instead"
                if has_methods and hint == "call a function instead":
                    hint += ", or give an operator of this name 'variants: method'"
                diagnostics.warning("W1243", message, _place(row, node), hint=hint)


def warn_of_plain_sizes(
    functions: Sequence[DifferentiableFunction],
    needs_symint: Callable[[str], bool],
    diagnostics: Diagnostics,
) -> None:
    """Report calls with symbolic sizes of functions that take them only by another name: `zeros_symint`."""
    own = {str(cpp_name(fn.func.func)) for fn in functions if fn.func.func.has_symint()}
    for info, row, formula in _formulas(_infos(fn for fn in functions if fn.func.is_library)):
        called = called_functions(formula, ("at", operator_namespace(info.func.namespace)))
        for node in (*called, *called_members(formula)):
            name = node.text
            given = node.parts if node.kind == "call" else node.parts[1:]
            symbols = (n for n in given if n.kind == "method" and n.text in _SYMBOLS)
            if name.endswith("_symint") or not any(n.parts[0].kind == "name" for n in symbols):
                continue
            if name in own or needs_symint(name):
                message = f"nothing declares '{name}' for symbolic sizes"
                hint = f"write '{name}_symint'"
                diagnostics.warning("W1243", message, _place(row, node), hint=hint)


def warn_of_unknown_operators(
    nodes: Iterable[tuple[DifferentiabilityInfo, Collection[str]]],
    operators: Collection[str],
    diagnostics: Diagnostics,
) -> None:
    """Report functions and methods that formulas in Python call as operators, and that are not among `operators`; each once.

    `nodes` are gradients, and the names of the operators of PyTorch that their formulas call.
    """
    known = Vocabulary(sorted(operators))
    seen: set[str] = set()
    for info, called in nodes:
        unknown = {name for name in called if name not in operators}
        namespaces = (*_OF_PYTORCH, operator_namespace(info.func.namespace))
        for _, row, formula in _formulas([info]) if unknown else ():
            calls = (*called_functions(formula, namespaces, numbers=True), *called_members(formula))
            for node in sorted(calls, key=lambda node: node.at):
                name = node.text.removesuffix("_symint")
                if name in unknown and name not in seen:
                    seen.add(name)
                    message = f"neither PyTorch nor the library has an operator '{name}'"
                    hint = known.did_you_mean(name) or "make it an operator of the library"
                    diagnostics.warning("W1243", message, _place(row, node), hint=hint)


def _place(row: FormulaRow, node: Node) -> Span:
    """Return the place of the name of what is called."""
    return row.formula.place.part(node.at, node.at + len(node.text))


def operator_names(functions: Sequence[DifferentiableFunction]) -> frozenset[str]:
    """Return the C++ names of all operators, and their root names."""
    names = {SUFFIXES.sub("", str(cpp_name(fn.func.func))) for fn in functions}
    return frozenset(names.union(fn.func.root_name for fn in functions))


def warn_of_undeclared(
    functions: Sequence[DifferentiableFunction],
    is_declared: Callable[[str], bool],
    spelling: TypeSpelling,
    diagnostics: Diagnostics,
    *,
    symint_overloads: bool,
) -> None:
    """Report functions that are neither operators nor helpers, and for which `is_declared` returns false.

    Only operators of libraries are looked at: the formulas of `aten` call PyTorch's own functions.
    """
    known = Vocabulary((*sorted(operator_names(functions)), *HELPERS))
    of_libraries = [fn for fn in functions if fn.func.is_library]
    calls = calls_of_functions(of_libraries, symint_overloads=symint_overloads)
    first = {call.name: call for call in reversed(tuple(calls))}
    for call in reversed(first.values()):
        if is_declared(call.name):
            continue
        message, notes = f"nothing declares the function '{call.name}'", []
        hint = known.did_you_mean(call.name)
        if hint is None and call.node.scope != "at":
            hint = "declare it in a header, and name that in 'include'"
            guess = _declaration(call, spelling)
            namespace = operator_namespace(call.info.func.namespace)
            notes = [
                f"in my_formulas.h: namespace {namespace} {{ {guess} }}",
                "as the first item of this file: '- include: my_formulas.h'",
            ]
        diagnostics.warning("W1243", message, call.span, hint=hint, notes=notes)


def _infos(functions: Iterable[DifferentiableFunction]) -> Iterator[DifferentiabilityInfo]:
    """Yield the gradients of each entry once."""
    for fn in functions:
        own = (info for info in fn.infos.values() if info.func is fn.func)
        info = next(own, None)
        if info is not None:
            yield info


def _formulas(
    infos: Iterable[DifferentiabilityInfo],
) -> Iterator[tuple[DifferentiabilityInfo, FormulaRow, Formula]]:
    for info in infos:
        for row in (row for table in info.entry.tables for row in table.rows):
            yield info, row, read_formula(row.formula.text)


def _declaration(call: Call, spelling: TypeSpelling) -> str:
    """Return a declaration of the function, with the types of what the formula passes as far as they are known."""
    info, row = call.info, call.row
    context = TypeContext.of(info.func)
    arguments = Signatures().dispatcher(info.func).arguments
    types = {b.name: spell(b.type, spelling) for b in arguments}
    for (name, _), value in zip(_outputs(info.func), info.func.func.returns):
        types[name] = f"const {spell(type_of_return(info.func, value, context), spelling)}&"
    tensor = types.get(row.names[0].text, _TENSOR)
    parameters = (_parameter(text, types, tensor) for text in call.passed)
    whole = call.formula.tree == call.node
    number = len(row.names) if whole else 1
    plain = tensor.removeprefix("const ").removesuffix("&").rstrip()
    returned = f"std::tuple<{', '.join([plain] * number)}>" if number > 1 else plain
    return f"{returned} {call.name}({', '.join(parameters)});"


def _parameter(text: str, types: dict[str, str], tensor: str) -> str:
    if text in types:
        return f"{types[text]} {text}"
    if re.fullmatch(r"grad|grad_\w+|\w+_[pt]", text):
        return f"{tensor} {text}"
    return "..."
