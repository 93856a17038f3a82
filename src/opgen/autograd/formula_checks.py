"""Report formulas that are no expressions of C++, and names that nothing declares.

One target translates formulas to Python, others compile them. Only names that stand for a value are looked up: not functions, members and types, which may come from any header. A name
that resembles none of the known ones may be a constant from a header, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from opgen.autograd.formula import ALTERNATIVES, Formula, Node, Token, read_formula
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.derivatives import WrittenFormula
from opgen.model.native_function import NativeFunction

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
        if i > 0 and _is_operand(match) and tokens[i - 1][0] in values:
            yield *match.span(), f"no operator stands before '{token}'", None
    last = tokens[-1]
    if last[0] in _OPEN_ENDED:
        yield *last.span(), f"nothing follows this '{last[0]}'", None
    divided = re.search(r"//\s*(\w[\w.]*)\s*$", text)
    if divided is not None and (divided[1] in values or divided[1][0].isdigit()):
        start = divided.start()
        yield start, start + 2, "'//' begins a comment in C++", "write '/'"


def _is_operand(match: Token) -> bool:
    is_word = match["name"] is not None and match[0] not in ALTERNATIVES
    return is_word or match["number"] is not None
