"""Report names in formulas that nothing declares, which the C++ compiler would find otherwise.

Only names that stand for a value are looked up: not functions, members and types, which may come from any header. A name
that resembles none of the known ones may be a constant from a header, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opgen.autograd.formula_text import ALTERNATIVE_TOKENS, has_lambda
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.derivatives import WrittenFormula
from opgen.model.native_function import NativeFunction

_TOKEN = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'
    | (?P<name>[A-Za-z_]\w*) | \d[\w.]* | -> | :: | \S""",
    re.VERBOSE | re.DOTALL,
)
# Words that are no members, functions or types, and others, such as words in comments.
_PERHAPS_VALUES = re.compile(r"(?<![\w.>:])[A-Za-z_]\w*\b(?!\s*(?:\(|::|<|\{))")
_BEFORE_MEMBERS = (".", "->", "::")
_AFTER_FUNCTIONS_AND_TYPES = ("(", "::", "<", "{")
# Keywords of C++ in places where a name is also possible.
_WORDS = frozenset(
    (
        *("true", "false", "nullptr", "auto", "return", "const", "sizeof", "this"),
        *ALTERNATIVE_TOKENS,
        "new",
    )
)
# Short names resemble everything, and constants have names such as kEps, EPS and Eps.
_MAY_BE_CONSTANT = re.compile(r"\w\w?$|k[A-Z]|[A-Z]")
_IS_CONSTANT = re.compile(r"k[A-Z]|[A-Z]|nullopt$")
# A type between `<` and `>`.
_IN_TEMPLATE = re.compile(r"<[^<>()]*>")
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
    # In most formulas, every word that may be a value is one.
    if all(word in known or word in _WORDS for word in _PERHAPS_VALUES.findall(formula.text)):
        return
    in_templates = {
        i for found in _IN_TEMPLATE.finditer(formula.text) for i in range(*found.span())
    }
    for match in _values(formula.text):
        word = match[0]
        is_type = word in _NO_FUNCTIONS or match.start() in in_templates
        is_unknown = is_complete and not is_type and not _IS_CONSTANT.match(word)
        if word in known or word in _WORDS or (_MAY_BE_CONSTANT.match(word) and not is_unknown):
            continue
        hint = did_you_mean(word, known)
        if hint is not None or is_unknown:
            message = f"nothing declares '{shorten(match[0])}'"
            span = formula.place.part(*match.span())
            diagnostics.error("E1231", message, span, hint=hint)


def _tokens(formula: str) -> list[re.Match[str]]:
    """Return the parts of a formula without comments; none if it has a lambda, which declares names of its own."""
    tokens = [m for m in _TOKEN.finditer(formula) if not m[0].startswith(("/*", "//"))]
    return [] if has_lambda(m[0] for m in tokens) else tokens


def called_functions(
    formula: str, namespaces: Sequence[str], *, numbers: bool = False
) -> Iterator[re.Match[str]]:
    """Yield the names of functions that are called without a namespace, or in one of `namespaces`.

    With `numbers`, functions of numbers are among them. None if the formula has a lambda. Types, which begin with a capital, are left out.
    """
    tokens = _tokens(formula)
    texts = ["", "", "", *(m[0] for m in tokens), ""]
    left_out = _NO_FUNCTIONS if numbers else _NO_FUNCTIONS | NUMBER_FUNCTIONS
    for i, match in enumerate(tokens, 3):
        before, scope = texts[i - 1], texts[i - 2]
        is_free = before not in _BEFORE_MEMBERS
        is_scoped = before == "::" and scope in namespaces and texts[i - 3] not in ("::", ".", "->")
        is_name = match["name"] and not match[0][0].isupper() and match[0] not in left_out
        if is_name and texts[i + 1] == "(" and (is_free or is_scoped):
            yield match


def called_members(formula: str) -> Iterator[re.Match[str]]:
    """Yield the names of members that are called, as `f` in `x.f()`. None if the formula has a lambda.

    What a function returns a pointer to may be of any class, so members of these are left out.
    """
    tokens = _tokens(formula)
    texts = ["", "", *(m[0] for m in tokens), ""]
    for i, match in enumerate(tokens, 2):
        is_member = texts[i - 1] == "." or (texts[i - 1] == "->" and texts[i - 2] != ")")
        if match["name"] and is_member and texts[i + 1] == "(":
            yield match


def _values(formula: str) -> Iterator[re.Match[str]]:
    """Yield the names that stand for a value; none if the formula has a lambda."""
    tokens = _tokens(formula)
    texts = ["", *(m[0] for m in tokens), ""]
    for i, match in enumerate(tokens, 1):
        is_member = texts[i - 1] in _BEFORE_MEMBERS
        if match["name"] and not is_member and texts[i + 1] not in _AFTER_FUNCTIONS_AND_TYPES:
            yield match
