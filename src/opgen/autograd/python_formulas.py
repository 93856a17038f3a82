"""Write formulas, which are C++ expressions, as expressions of Python.

For targets whose gradients are recorded in Python. Calls of ATen become calls of `torch.ops.aten`, whose names are the
same; operators of C++ on tensors and numbers are the same in Python, except the division of integers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from keyword import iskeyword

from msgspec import Struct

_TOKEN = re.compile(
    r"""\s+ | /\*.*?\*/ | //[^\n]*
    | (?P<text>"(?:[^"\\\n]|\\.)*")
    | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[fFlLuU]*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>::|->|&&|\|\||[=!<>]=|<<|>>|[-+*/%!~<>?:.,(){}\[\]&|^]) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
# Operators of C++ by how strongly they bind, with Python's spelling.
_BINARY = {
    "||": (1, "or"),
    "&&": (2, "and"),
    "|": (3, "|"),
    "^": (4, "^"),
    "&": (5, "&"),
    "==": (6, "=="),
    "!=": (6, "!="),
    "<": (7, "<"),
    ">": (7, ">"),
    "<=": (7, "<="),
    ">=": (7, ">="),
    "<<": (8, "<<"),
    ">>": (8, ">>"),
    "+": (9, "+"),
    "-": (9, "-"),
    "*": (10, "*"),
    "/": (10, "/"),
    "%": (10, "%"),
}
_UNARY = {"-": "-", "+": "+", "!": "not ", "~": "~", "*": ""}
_WORDS = {"true": "True", "false": "False", "nullptr": "None", "nullopt": "None"}
# Members of tensors, optionals and lists: `{0}` is the object, `{1}` the argument.
_MEMBERS = {
    "defined": "({0} is not None)",
    "has_value": "({0} is not None)",
    "value": "{0}",
    "scalar_type": "{0}.dtype",
    "dtype": "{0}.dtype",
    "layout": "{0}.layout",
    "device": "{0}.device",
    "dim": "{0}.dim()",
    "ndimension": "{0}.dim()",
    "numel": "{0}.numel()",
    "sym_numel": "{0}.numel()",
    "sizes": "{0}.shape",
    "sym_sizes": "{0}.shape",
    "strides": "{0}.stride()",
    "sym_strides": "{0}.stride()",
    "is_complex": "{0}.is_complex()",
    "is_floating_point": "{0}.is_floating_point()",
    "contiguous": "{0}.contiguous()",
    "empty": "(len({0}) == 0)",
    # What saves `zeros_like(self)`.
    "zeros": "torch.zeros_like({0})",
}
_MEMBERS_OF_ONE = {"sym_size": "{0}.size({1})", "sym_stride": "{0}.stride({1})"}
# Functions of opgen::autograd::formulas.
_HELPERS = {
    "not_implemented": "_gradients.not_implemented({})",
    "not_implemented_list": "_gradients.not_implemented({})",
    "handle_r_to_c": "_gradients.handle_r_to_c({})",
    "sum_to": "_gradients.sum_to({})",
    "to_args_sizes": "[one.shape for one in {}]",
    "to_args_sizes_symint": "[one.shape for one in {}]",
    "to_args_scalartypes": "[one.dtype for one in {}]",
}
_PASSED_ON = frozenset(
    (
        *("toNonOptTensor", "SymInt", "Scalar", "Tensor", "IntArrayRef", "SymIntArrayRef"),
        *("optional", "make_optional", "string", "string_view"),
    )
)
_TUPLES = frozenset(("make_tuple", "tuple", "make_pair", "pair"))
_LISTS = frozenset(("vector", "TensorList", "array", "ArrayRef"))
_NUMBERS = {"double": "float", "float": "float", "int64_t": "int", "int": "int", "bool": "bool"}
# Functions of numbers; `exp` of a tensor is ATen's.
_MATH = frozenset(
    (
        *("acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1"),
        *("fabs", "floor", "fmod", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow"),
        *("sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
    )
)
_DTYPES = {
    "kByte": "uint8",
    "kChar": "int8",
    "kShort": "int16",
    "kInt": "int32",
    "kLong": "int64",
    "kHalf": "float16",
    "kFloat": "float32",
    "kDouble": "float64",
    "kComplexFloat": "complex64",
    "kComplexDouble": "complex128",
    "kBool": "bool",
    "kBFloat16": "bfloat16",
}
_ATEN = frozenset(("at", "c10", "torch"))
_ANY_TERNARY = 0
# Python's own limit is 200 open brackets in a source.
_MAX_DEPTH = 100
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]+)|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL
)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": ""}
_NUMBER = re.compile(r"0|[1-9]\d{0,30}|\d*\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_OCTAL = re.compile(r"0([0-7]{1,30})")


_TOO_DEEP = f"the formula is nested more than {_MAX_DEPTH} levels deep"


class PythonFormula(Struct, frozen=True):
    """An expression of Python, and the operators that it calls: `aten.sum` as `aten_sum`."""

    text: str
    functions: frozenset[str]


class NotPython(Exception):
    """A part of a formula has no form in Python: characters `start` to `end`, and the reason."""

    def __init__(self, reason: str, start: int, end: int) -> None:
        super().__init__(reason)
        self.start = start
        self.end = end


class Names(Struct, frozen=True):
    """What formulas of an operator may name.

    `values` are variables, with their Python expressions; `operators` are the C++ names of the operators of the
    library's `namespace`; `declared` are functions of the author's headers, with their namespaces.
    """

    namespace: str
    values: Mapping[str, str]
    operators: AbstractSet[str]
    declared: AbstractSet[tuple[str, str]]


def python_name(name: str, taken: AbstractSet[str]) -> str:
    """Return the name as a variable of Python, which is none of `taken`."""
    while iskeyword(name) or name in taken:
        name += "_"
    return name


def as_python(formula: str, names: Names) -> PythonFormula:
    """Return a formula as an expression of Python. Raises NotPython if that is impossible."""
    reader = _Reader(formula, names)
    text = reader.expression(_ANY_TERNARY)
    if reader.peek():
        raise reader.refusal("this")
    if _depth(text) > _MAX_DEPTH:
        raise NotPython(_TOO_DEEP, 0, len(formula))
    return PythonFormula(text, frozenset(reader.functions))


class _Reader:
    def __init__(self, formula: str, names: Names) -> None:
        self.names = names
        self.functions: set[str] = set()
        self.tokens = [m for m in _TOKEN.finditer(formula) if m.lastgroup is not None]
        self.at = 0
        self.depth = 0
        self.size = len(formula)

    # Tokens.

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        found = self.peek()
        if not found or (expected is not None and found != expected):
            raise self.refusal("this")
        self.at += 1
        return found

    def refusal(self, what: str, token: re.Match[str] | None = None) -> NotPython:
        if token is None and self.at < len(self.tokens):
            token = self.tokens[self.at]
        if token is None:
            return NotPython("the formula ends too early", max(0, self.size - 1), self.size)
        shown = token[0] if what == "this" else what
        return NotPython(f"'{shown}' cannot be written in Python", *token.span())

    # Expressions: their text.

    def expression(self, strength: int) -> str:
        left = self.unary()
        while True:
            found = _BINARY.get(self.peek())
            if found is None or found[0] <= strength:
                break
            self.take()
            right = self.expression(found[0])
            if found[1] == "/" and not (_is_real(left) or _is_real(right)):
                left = f"_gradients.divide({left}, {right})"
            else:
                left = f"({left} {found[1]} {right})"
        if strength == _ANY_TERNARY and self.peek() == "?":
            self.take()
            yes = self.expression(_ANY_TERNARY)
            self.take(":")
            no = self.expression(_ANY_TERNARY)
            return f"({yes} if {left} else {no})"
        return left

    def unary(self) -> str:
        if self.depth == _MAX_DEPTH:
            raise NotPython(_TOO_DEEP, 0, self.size)
        self.depth += 1
        try:
            return self.signed()
        finally:
            self.depth -= 1

    def signed(self) -> str:
        sign = _UNARY.get(self.peek())
        if sign is None:
            return self.postfix()
        self.take()
        text = self.unary()
        if sign == "-" and text.isdigit():
            return f"-{text}"
        return f"({sign}{text})" if sign else text

    def postfix(self) -> str:
        text = self.primary()
        while self.peek() in (".", "->", "["):
            if self.take() == "[":
                index = self.expression(_ANY_TERNARY)
                self.take("]")
                text = f"{text}[{index}]"
                continue
            token = self.tokens[self.at] if self.at < len(self.tokens) else None
            name = self.take()
            if self.peek() != "(":
                raise self.refusal(name, token)
            arguments = self.arguments("(", ")")
            text = self.member(text, name, arguments, token)
        return text

    def member(
        self, text: str, name: str, arguments: list[str], token: re.Match[str] | None
    ) -> str:
        if name == "size":
            return f"{text}.size({arguments[0]})" if arguments else f"len({text})"
        if name in _MEMBERS and not arguments:
            return _MEMBERS[name].format(text)
        if name in _MEMBERS_OF_ONE and len(arguments) == 1:
            return _MEMBERS_OF_ONE[name].format(text, arguments[0])
        if name in ("options", "item", "data_ptr", "value_or", "data", "begin", "end"):
            raise self.refusal(name, token)
        return self.aten(name, [text, *arguments])

    def aten(self, name: str, arguments: list[str]) -> str:
        return self.operator("aten", name, arguments)

    def operator(self, namespace: str, name: str, arguments: list[str]) -> str:
        name = name.removesuffix("_symint")
        self.functions.add(f"{namespace}.{name}")
        return f"{namespace}_{name}({', '.join(arguments)})"

    def arguments(self, opening: str, closing: str) -> list[str]:
        self.take(opening)
        found = []
        while self.peek() != closing:
            found.append(self.expression(_ANY_TERNARY))
            if self.peek() != closing:
                self.take(",")
        self.take(closing)
        return found

    def primary(self) -> str:
        if self.at >= len(self.tokens):
            raise self.refusal("this")
        token = self.tokens[self.at]
        if token.lastgroup == "number":
            self.take()
            return self._number(token)
        if token.lastgroup == "text":
            return json.dumps("".join(map(self._text, self._texts())), ensure_ascii=False)
        if token[0] == "(":
            self.take()
            text = self.expression(_ANY_TERNARY)
            self.take(")")
            return text
        if token[0] == "{":
            return f"[{', '.join(self.arguments('{', '}'))}]"
        if token[0] == "::":
            self.take()
        elif token.lastgroup != "name":
            raise self.refusal("this")
        return self.named()

    def _number(self, token: re.Match[str]) -> str:
        text = token[0].rstrip("fFlLuU")
        octal = _OCTAL.fullmatch(text)
        if octal:
            return f"0o{octal[1]}"
        if not _NUMBER.fullmatch(text):
            raise self.refusal(token[0], token)
        return text

    def _texts(self) -> Iterator[re.Match[str]]:
        while self.at < len(self.tokens) and self.tokens[self.at].lastgroup == "text":
            yield self.tokens[self.at]
            self.at += 1

    def _text(self, token: re.Match[str]) -> str:
        """Return the characters of a string, whose escapes are those of C++."""

        def character(escape: re.Match[str]) -> str:
            octal, *hexadecimal, other = escape.groups()
            number = (
                int(octal, 8) if octal else int("".join(h or "" for h in hexadecimal) or "0", 16)
            )
            if other:
                return _ESCAPED.get(other, other)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                raise self.refusal(escape[0], token)
            return chr(number)

        return _ESCAPE.sub(character, token[0][1:-1])

    def named(self) -> str:
        """Read a name with its namespaces: a value, or the function of a call."""
        scopes = [self.take()]
        first = self.tokens[self.at - 1]
        while self.peek() == "::":
            self.take()
            scopes.append(self.take())
        name = scopes.pop()
        template = self._template()
        if name == "get" and template is not None:
            return f"{self.arguments('(', ')')[0]}[{template}]"
        if name == "static_cast" and template in _NUMBERS:
            return f"{_NUMBERS[template]}({self.arguments('(', ')')[0]})"
        if self.peek() in ("(", "{"):
            is_list = self.peek() == "{"
            arguments = self.arguments("{", "}") if is_list else self.arguments("(", ")")
            return self.call(scopes, name, arguments, first, is_list=is_list)
        return self.value(scopes, name, first)

    def _template(self) -> str | None:
        """Skip the arguments of a template: `<Tensor, Tensor>` before a bracket."""
        if self.peek() != "<":
            return None
        end = self.at + 1
        while end < len(self.tokens) and (
            self.tokens[end].lastgroup in ("name", "number")
            or self.tokens[end][0] in ("::", ",", "<")
        ):
            end += 1
        if end + 1 >= len(self.tokens) or self.tokens[end][0] not in (">", ">>"):
            return None
        if self.tokens[end + 1][0] not in ("(", "{"):
            return None
        text = "".join(token[0] for token in self.tokens[self.at + 1 : end])
        self.at = end + 1
        return text

    def value(self, scopes: list[str], name: str, token: re.Match[str]) -> str:
        if not scopes and name in self.names.values:
            return self.names.values[name]
        if name in _WORDS:
            return _WORDS[name]
        if name in _DTYPES:
            return f"torch.{_DTYPES[name]}"
        raise self.refusal("::".join((*scopes, name)), token)

    def call(
        self,
        scopes: list[str],
        name: str,
        arguments: list[str],
        token: re.Match[str],
        *,
        is_list: bool,
    ) -> str:
        written = ", ".join(arguments)
        scope = scopes[-1] if scopes else ""
        if {(scope or self.names.namespace, name), (scope, name)} & self.names.declared:
            reason = f"'{name}' is a C++ function of a header, which Python cannot call"
            raise NotPython(reason, *token.span())
        if name in _TUPLES:
            return f"({written},)" if len(arguments) == 1 else f"({written})"
        if name in _LISTS or (is_list and name in _PASSED_ON and name.endswith("Ref")):
            return f"[{written}]"
        if name in _PASSED_ON and len(arguments) < 2:
            return written or "None"
        if not scopes and name == "wrap_opt_if" and len(arguments) == 2:
            return f"({arguments[0]} if {arguments[1]} else None)"
        if not scopes and name in _HELPERS:
            return _HELPERS[name].format(written)
        if scope == "std" and name in _MATH:
            return f"math.{name}({written})"
        own = name.removesuffix("_symint")
        if scope in ("", self.names.namespace) and own in self.names.operators:
            return self.operator(self.names.namespace, name, arguments)
        if scope == "" or scope in _ATEN:
            return self.aten(name, arguments)
        raise self.refusal("::".join((*scopes, name)), token)


def _depth(text: str) -> int:
    """Return how many brackets of an expression of Python are open at once."""
    depth = most = 0
    for character in _QUOTED.sub("", text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        most = max(most, depth)
    return most


def _is_real(text: str) -> bool:
    """Return whether a text is a number with a fraction, so that its division is that of Python."""
    return re.fullmatch(r"[\d.eE+-]*[.eE][\d.eE+-]*", text) is not None
