"""Report formulas that are no expressions of C++, for every target: one translates them to Python, others compile them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opgen.autograd.formula_text import ALTERNATIVE_TOKENS, has_lambda
from opgen.diagnostics import Diagnostics
from opgen.model.derivatives import WrittenFormula

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<word>[A-Za-z_]\w*) | (?P<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    | (?P<sign>::|->|&&|\|\||[=!<>]=|<<|\*\*|\S)""",
    re.VERBOSE | re.DOTALL,
)
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
    tokens = [m for m in _TOKEN.finditer(formula.text) if m["comment"] is None]
    if has_lambda(m[0] for m in tokens):
        return
    found = next(_slips(formula.text, tokens, values), None)
    if found is not None:
        start, end, message, hint = found
        diagnostics.error("E1246", message, formula.place.part(start, end), hint=hint)


def _slips(
    text: str, tokens: Sequence[re.Match[str]], values: Sequence[str]
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


def _is_operand(match: re.Match[str]) -> bool:
    is_word = match["word"] is not None and match[0] not in ALTERNATIVE_TOKENS
    return is_word or match["number"] is not None
