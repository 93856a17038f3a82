"""Report formulas that are no expressions of C++, names that nothing declares, and rows that torchgen leaves to the compiler.

One target translates formulas to Python, others compile them. Only names that stand for a value are looked up: not
functions, members and types, which may come from any header. A name that resembles none of the known ones may be a constant
from a header, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from opgen.autograd.formula import ALTERNATIVES, Formula, Node, Token, read_formula
from opgen.autograd.forward_formulas import FOREACH
from opgen.cpp.names import cpp_name
from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.derivatives import DerivativeEntry, FormulaRow, FormulaTable, WrittenFormula
from opgen.model.function_schema import Return
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseType

# Keywords of C++ in places where a name is also possible.
_WORDS = frozenset(("true", "false", "nullptr", "auto", "return", "const", "sizeof", "this", "new"))
# Short names resemble everything, and constants have names such as kEps, EPS and Eps.
_MAY_BE_CONSTANT = re.compile(r"\w\w?$|k[A-Z]|[A-Z]")
_IS_CONSTANT = re.compile(r"k[A-Z]|[A-Z]|nullopt$")
# Words that are followed by a parenthesis, but are not functions: keywords and types of C++.
_NO_FUNCTIONS = frozenset(
    (
        *("sizeof", "decltype", "alignof", "if", "return", "switch", "while", "for", "noexcept"),
        *("bool", "char", "double", "float", "int", "long", "short", "unsigned", "auto", "size_t"),
        *("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"),
    )
)
# Functions of numbers, which every source has.
NUMBER_FUNCTIONS = frozenset(
    (
        *("abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "erf", "erfc", "exp"),
        *("expm1", "fabs", "floor", "fmax", "fmin", "fmod", "hypot", "lgamma", "log", "log10"),
        *("log1p", "log2", "max", "min", "pow", "round", "sin", "sinh", "sqrt", "tan", "tanh"),
        *("tgamma", "trunc"),
    )
)
# Values that generated code declares for every backward formula.
_OF_BACKWARD = ("grad", "grads", "grad_input_mask", "retain_variables", "result")
_OF_FORWARD = ("result", "original_self_p", "original_self_t", "auto_linear", "auto_element_wise")


def names_of_backward(f: NativeFunction) -> tuple[str, ...]:
    """Return the values that a backward formula of `f` can use."""
    outputs = _outputs(f)
    gradients = (f"grad_{name}" for name in outputs)
    return (*_arguments(f), *outputs, *_OF_BACKWARD, *gradients)


def names_of_forward(f: NativeFunction) -> tuple[str, ...]:
    """Return the values that a forward formula of `f` can use."""
    arguments = _arguments(f)
    inputs = (f"{name}_{which}" for name in arguments for which in ("p", "t"))
    return (*arguments, *inputs, *_outputs(f), *_OF_FORWARD)


def _arguments(f: NativeFunction) -> tuple[str, ...]:
    options = () if f.func.arguments.tensor_options is None else ("options",)
    # Formulas of operators on lists are computed for each tensor, with its number.
    index = ("i",) if f.root_name.startswith("_foreach_") else ()
    return (*(a.name for a in f.func.arguments.flat_all), *options, *index)


def _outputs(f: NativeFunction) -> tuple[str, ...]:
    returns = f.func.returns
    named = (r.name for r in returns if r.name is not None)
    return (*named, *(f"result{i}" for i in range(len(returns))))


def check_names(
    formula: WrittenFormula,
    known: tuple[str, ...],
    diagnostics: Diagnostics,
    *,
    is_complete: bool = False,
) -> None:
    """Report names in a formula that are likely misspelt: they resemble one of the `known` values.

    If the list `is_complete`, except for constants of headers, report all others.
    """
    read = read_formula(formula.text)
    if read.has_lambda or read.names.issubset(known):
        return
    for node in read.nodes:
        word = node.text
        if node.kind != "name" or node.scope or word in known or word in _WORDS:
            continue
        is_unknown = is_complete and word not in _NO_FUNCTIONS and not _IS_CONSTANT.match(word)
        hint = (
            None if _MAY_BE_CONSTANT.match(word) and not is_unknown else did_you_mean(word, known)
        )
        if hint is not None or is_unknown:
            message = f"nothing declares '{shorten(word)}'"
            diagnostics.error("E1231", message, formula.place.part(node.at, node.end), hint=hint)


def called_functions(
    formula: Formula, namespaces: Collection[str] = (), *, numbers: bool = False
) -> Iterator[Node]:
    """Yield the functions that are called without a namespace, or in one of `namespaces`.

    With `numbers`, functions of numbers are among them. None if the formula has a lambda. Types, which begin with a capital, are left out.
    """
    left_out = _NO_FUNCTIONS if numbers else _NO_FUNCTIONS | NUMBER_FUNCTIONS
    for node in () if formula.has_lambda else formula.calls():
        is_free = not node.scope or node.scope in namespaces
        if is_free and not node.text[0].isupper() and node.text not in left_out:
            yield node


def called_members(formula: Formula) -> Iterator[Node]:
    """Yield the members that are called, as `f` in `x.f()`. None if the formula has a lambda.

    What a function returns a pointer to may be of any class, so members of these are left out.
    """
    for node in () if formula.has_lambda else formula.calls("method"):
        if node.scope == "." or node.parts[0].kind in ("name", "index", "member"):
            yield node


# Signs after which an operand follows.
_OPEN_ENDED = frozenset(
    ("+", "-", "*", "/", "%", ",", ".", "->", "::", "&&", "||", "?", ":", "==", "!=", "<=", ">=")
)
# What replaces Python's words. `and`, `or` and `not` are words of C++, too.
_OF_PYTHON = {
    "None": "'std::nullopt'; or 'Tensor()' for no gradient",
    "True": "'true'",
    "False": "'false'",
    "if": "'condition ? a : b'",
    "else": "'condition ? a : b'",
    "lambda": "a function in a header, which 'include' names",
    "return": "the value alone",
}
_OF_SIGNS = {
    "**": "a product, or 'pow(x, 2)'",
    ";": "one expression, or call a function in a header, which 'include' names",
    "@": "'matmul(a, b)'",
}


def check_expression(
    formula: WrittenFormula, values: Sequence[str], diagnostics: Diagnostics
) -> None:
    """Report the first part of a formula that no expression of C++ has. `values` are what formulas can name.

    Lambdas contain statements, which are left to the compiler.
    """
    read = read_formula(formula.text)
    if read.has_lambda:
        return
    found = next(_mistakes(formula.text, read.tokens, values), None)
    if found is not None:
        start, end, message, hint = found
        diagnostics.error("E1246", message, formula.place.part(start, end), hint=hint)


def _mistakes(
    text: str, tokens: Sequence[Token], values: Sequence[str]
) -> Iterator[tuple[int, int, str, str | None]]:
    """Yield words and signs of Python, and operands without an operator."""
    if not tokens:
        yield 0, len(text), "the formula has no expression", None
        return
    for i, match in enumerate(tokens):
        token = match[0]
        word = _OF_PYTHON.get(token) or _OF_SIGNS.get(token)
        is_member = i > 0 and tokens[i - 1][0] in (".", "->", "::")
        if word is not None and not is_member and token not in values:
            yield *match.span(), f"'{token}' is not part of a C++ expression", f"write {word}"
        is_name = match["name"] is not None and token not in ALTERNATIVES
        is_operand = is_name or match["number"] is not None
        if i > 0 and is_operand and tokens[i - 1][0] in values:
            yield *match.span(), f"no operator stands before '{token}'", None
    last = tokens[-1]
    if last[0] in _OPEN_ENDED:
        yield *last.span(), f"nothing follows this '{last[0]}'", None
    divided = re.search(r"//\s*(\w[\w.]*)\s*$", text)
    if divided is not None and (divided[1] in values or divided[1][0].isdigit()):
        start = divided.start()
        yield start, start + 2, "'//' begins a comment in C++", "write '/'"


def check_rows(f: NativeFunction, rows: Sequence[FormulaRow], diagnostics: Diagnostics) -> None:
    """Report names of keys that have no gradient or tangent, or have one already."""
    arguments = {a.name: a.type for a in f.func.arguments.flat_all}
    outputs = _output_numbers(f)
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


def _output_numbers(f: NativeFunction) -> Mapping[str, str]:
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
    numbers = {name: int(one[6:]) for name, one in _output_numbers(f).items()}
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

    def check(self, row: FormulaRow, diagnostics: Diagnostics) -> None:
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
    """Report formulas for results that have no gradient, or several. The entry names `named`, its formulas are for `f`.

    Libraries only: by torchgen's rules, `grad` is the gradient of the first of several results.
    """
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
    # Tensors are where no target looks for them: in lists of lists or of optionals, in optional lists.
    lists = ((r, found) for r in results if (found := r.type.is_list_like()) is not None)
    nested = next(
        (r for r, found in lists if r.type is not found or not isinstance(found.elem, BaseType)),
        None,
    )
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
