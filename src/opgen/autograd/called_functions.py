"""Find the functions that formulas call; warn about those that nothing declares, and say what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.formula_checks import called_functions, called_members
from opgen.autograd.formula_text import parts
from opgen.autograd.helpers import HELPERS
from opgen.cpp.cpp_types import type_of_return
from opgen.cpp.names import cpp_name
from opgen.cpp.signatures import DispatcherSignature
from opgen.cpp.spelling import TypeSpelling, spell
from opgen.cpp.type_values import TypeContext
from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.suggestions import Vocabulary
from opgen.model.derivatives import DerivativeEntry, FormulaRow
from opgen.model.native_function import Variant
from opgen.model.profile import operator_namespace

_SUFFIXES = re.compile(r"(_symint)?(_outf|_out)?$")
_TENSOR = "const Tensor&"
_OF_PYTORCH = ("at", "c10", "torch")
# An argument that is a symbolic size, or a list of them.
_SYMBOLS = re.compile(r"\w+(\.|->)sym_(sizes\(\)|strides\(\)|numel\(\)|size\([^()]*\))")


class Call(Struct, frozen=True):
    """A call of a function in a formula that is no operator, and no function that opgen declares for formulas.

    The formula is that of `row`, among the gradients `info`. `match` is what is called in its text, and `name` the name of
    the function that generated code calls.
    """

    info: DifferentiabilityInfo
    row: FormulaRow
    match: re.Match[str]
    name: str

    @property
    def passed(self) -> tuple[str, ...] | None:
        """The arguments of the call; None if they are not known."""
        text = self.row.formula.text
        found = parts(text[text.index("(", self.match.end()) + 1 :])
        return None if found is None else found.texts

    @property
    def is_forward(self) -> bool:
        """Whether the formula computes a tangent."""
        arguments = self.info.func.func.arguments.flat_all
        return all(a.name != self.row.names[0].text for a in arguments)

    @property
    def span(self) -> Span:
        return self.row.formula.place.part(*self.match.span())


def calls_of_functions(
    functions: Sequence[DifferentiableFunction], *, symint_overloads: bool
) -> Iterator[Call]:
    """Yield the calls of functions that are no operators and no helpers.

    Without `symint_overloads`, generated code calls `f` where the formula calls `f_symint`.
    """
    operators = operator_names(functions)
    for info in _infos(functions):
        namespace = operator_namespace(info.func.namespace)
        for row in _rows(info.entry):
            for match in called_functions(row.formula.text, ("at", namespace)):
                name = match[0] if symint_overloads else match[0].removesuffix("_symint")
                if name not in HELPERS and _SUFFIXES.sub("", name) not in operators:
                    yield Call(info, row, match, name)


def method_names(functions: Iterable[DifferentiableFunction]) -> frozenset[str]:
    """Return the C++ names of the operators that are methods of class Tensor."""
    methods = (fn.func for fn in functions if Variant.method in fn.func.variants)
    return frozenset(_SUFFIXES.sub("", str(cpp_name(f.func))) for f in methods)


def warn_of_unknown_members(
    functions: Sequence[DifferentiableFunction],
    members: Collection[str],
    diagnostics: Diagnostics,
    *,
    owns_tensor: bool,
) -> None:
    """Report members that formulas of libraries call, and that are not among `members`; each name once.

    If the library `owns_tensor`, its operators can be methods of class Tensor.
    """
    methods = method_names(functions) if owns_tensor else frozenset()
    known = Vocabulary((*sorted(methods), *sorted(members)))
    seen: set[str] = set()
    for info in _infos(fn for fn in functions if fn.func.is_library):
        for row in _rows(info.entry):
            for match in called_members(row.formula.text):
                name = match[0]
                plain = name.removesuffix("_symint")
                if name not in seen and plain not in methods and plain not in members:
                    seen.add(name)
                    message = f"no class has a method '{name}'"
                    hint = known.did_you_mean(plain) or "call a function instead"
                    if owns_tensor and hint == "call a function instead":
                        hint += ", or give an operator of this name 'variants: method'"
                    span = row.formula.place.part(*match.span())
                    diagnostics.warning("W1243", message, span, hint=hint)


def warn_of_plain_sizes(
    functions: Sequence[DifferentiableFunction],
    needs_symint: Callable[[str], bool],
    diagnostics: Diagnostics,
) -> None:
    """Report calls with symbolic sizes of functions that take them only by another name: `zeros_symint`."""
    own = {str(cpp_name(fn.func.func)) for fn in functions if fn.func.func.has_symint()}
    for info in _infos(fn for fn in functions if fn.func.is_library):
        namespace = operator_namespace(info.func.namespace)
        for row in _rows(info.entry):
            text = row.formula.text
            for match in (*called_functions(text, ("at", namespace)), *called_members(text)):
                name = match[0]
                found = parts(text[text.index("(", match.end()) + 1 :])
                given = () if found is None else found.texts
                if name.endswith("_symint") or not any(map(_SYMBOLS.fullmatch, given)):
                    continue
                if name in own or needs_symint(name):
                    message = f"nothing declares '{name}' for symbolic sizes"
                    span = row.formula.place.part(*match.span())
                    hint = f"write '{name}_symint'"
                    diagnostics.warning("W1243", message, span, hint=hint)


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
        for row in _rows(info.entry) if unknown else ():
            text = row.formula.text
            matches = (*called_functions(text, namespaces, numbers=True), *called_members(text))
            for match in sorted(matches, key=re.Match.start):
                name = match[0].removesuffix("_symint")
                if name in unknown and name not in seen:
                    seen.add(name)
                    message = f"neither PyTorch nor the library has an operator '{name}'"
                    hint = known.did_you_mean(name) or "make it an operator of the library"
                    span = row.formula.place.part(*match.span())
                    diagnostics.warning("W1243", message, span, hint=hint)


def operator_names(functions: Sequence[DifferentiableFunction]) -> frozenset[str]:
    """Return the C++ names of all operators, and their root names."""
    names = {_SUFFIXES.sub("", str(cpp_name(fn.func.func))) for fn in functions}
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
        text = call.row.formula.text
        if hint is None and not text[: call.match.start()].rstrip().endswith("at::"):
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


def _rows(entry: DerivativeEntry) -> Iterator[FormulaRow]:
    for table in entry.tables:
        yield from table.rows


def _declaration(call: Call, spelling: TypeSpelling) -> str:
    """Return a declaration of the function, with the types of what the formula passes as far as they are known."""
    info, row, match = call.info, call.row, call.match
    text = row.formula.text
    given = call.passed or ()
    context = TypeContext.of(info.func)
    arguments = DispatcherSignature.from_native_function(info.func).arguments()
    types = {b.name: spell(b.type, spelling) for b in arguments}
    for name, value in zip(_outputs(info), info.func.func.returns):
        types[name] = f"const {spell(type_of_return(info.func, value, context), spelling)}&"
    tensor = types.get(row.names[0].text, _TENSOR)
    parameters = (_parameter(text, types, tensor) for text in given)
    whole = text[: match.start()].strip() in ("", f"{operator_namespace(info.func.namespace)}::")
    number = len(row.names) if whole else 1
    plain = tensor.removeprefix("const ").removesuffix("&").rstrip()
    returned = f"std::tuple<{', '.join([plain] * number)}>" if number > 1 else plain
    return f"{returned} {call.name}({', '.join(parameters)});"


def _outputs(info: DifferentiabilityInfo) -> Iterator[str]:
    returns = info.func.func.returns
    for index, value in enumerate(returns):
        yield value.name or ("result" if len(returns) == 1 else f"result{index}")


def _parameter(text: str, types: dict[str, str], tensor: str) -> str:
    if text in types:
        return f"{types[text]} {text}"
    if re.fullmatch(r"grad|grad_\w+|\w+_[pt]", text):
        return f"{tensor} {text}"
    return "..."
