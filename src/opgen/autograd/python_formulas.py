"""Write formulas, which are C++ expressions, as expressions of Python, and what they save.

For targets whose gradients are recorded in Python. Calls of ATen become calls of `torch.ops.aten`, whose names are the
same; operators of C++ on tensors and numbers are the same in Python, except the division of integers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from keyword import iskeyword

from msgspec import Struct

from opgen.autograd.derivative import Derivative, DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.formula import MAX_DEPTH, TOO_DEEP, Node, Problem, read_formula
from opgen.autograd.formula_checks import NUMBER_FUNCTIONS
from opgen.autograd.forward_formulas import FOREACH
from opgen.autograd.kernels import differentiable_outputs
from opgen.cpp.names import return_names
from opgen.diagnostics import Span
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.function_schema import SchemaKind

# Operators of C++ that Python spells in another way.
_BINARY = {"||": "or", "&&": "and"}
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
_MATH = NUMBER_FUNCTIONS - {"abs", "fmax", "fmin", "max", "min", "round", "tgamma"}
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
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]+)|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL
)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": ""}
_NUMBER = re.compile(r"0|[1-9]\d{0,30}|\d*\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")
_OCTAL = re.compile(r"0([0-7]{1,30})")


class PythonFormula(Struct, frozen=True):
    """An expression of Python, and the operators that it calls: `aten.sum` as `aten_sum`."""

    text: str
    functions: frozenset[str]


class NotPython(Problem):
    """A part of a formula has no form in Python: characters `start` to `end`, and the reason."""


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
    read = read_formula(formula)
    problem, tree = read.problem, read.tree
    if problem is not None or tree is None:
        assert problem is not None
        raise NotPython(str(problem), problem.start, problem.end)
    if tree.height > MAX_DEPTH:
        raise NotPython(TOO_DEEP, 0, len(formula))
    printer = _Printer(names)
    text = printer.print(tree)
    return PythonFormula(text, frozenset(printer.functions))


class _Printer:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.functions: set[str] = set()

    def print(self, node: Node) -> str:
        match node.kind:
            case "name":
                return self._value(node)
            case "number":
                return _number(node)
            case "text":
                text = "".join(map(_characters, node.parts))
                return json.dumps(text, ensure_ascii=False)
            case "parens":
                return self.print(node.parts[0])
            case "unary" if node.text in _UNARY:
                sign, text = _UNARY[node.text], self.print(node.parts[0])
                if sign == "-" and text.isdigit():
                    return f"-{text}"
                return f"({sign}{text})" if sign else text
            case "member" | "lambda" | "character" | "unary":
                raise _refusal(node.text, node.at)
        parts = [self.print(part) for part in node.parts]
        match node.kind:
            case "binary" if node.text == "/" and not any(map(_is_real, node.parts)):
                return f"_gradients.divide({', '.join(parts)})"
            case "binary":
                return f"({parts[0]} {_BINARY.get(node.text, node.text)} {parts[1]})"
            case "conditional":
                return f"({parts[1]} if {parts[0]} else {parts[2]})"
            case "index":
                return f"{parts[0]}[{parts[1]}]"
            case "braces":
                return f"[{', '.join(parts)}]"
            case "method":
                return self._method(node, parts)
            case "application":
                raise _refusal(node.text, node.at)
        return self._call(node, parts)

    def _method(self, node: Node, parts: list[str]) -> str:
        text, *arguments = parts
        name = node.text
        if name == "size":
            return f"{text}.size({arguments[0]})" if arguments else f"len({text})"
        if name in _MEMBERS and not arguments:
            return _MEMBERS[name].format(text)
        if name in _MEMBERS_OF_ONE and len(arguments) == 1:
            return _MEMBERS_OF_ONE[name].format(text, arguments[0])
        if name in ("options", "item", "data_ptr", "value_or", "data", "begin", "end"):
            raise _refusal(name, node.at)
        return self._operator("aten", name, parts)

    def _operator(self, namespace: str, name: str, arguments: list[str]) -> str:
        name = name.removesuffix("_symint")
        self.functions.add(f"{namespace}.{name}")
        return f"{namespace}_{name}({', '.join(arguments)})"

    def _value(self, node: Node) -> str:
        name = node.text
        if node.scope in ("", "::") and name in self.names.values:
            return self.names.values[name]
        if name in _WORDS:
            return _WORDS[name]
        if name in _DTYPES:
            return f"torch.{_DTYPES[name]}"
        raise _refusal_of_name(node)

    def _call(self, node: Node, arguments: list[str]) -> str:
        name, template = node.text, node.template
        if name == "get" and template is not None:
            return f"{arguments[0]}[{template}]"
        if name == "static_cast" and template in _NUMBERS:
            return f"{_NUMBERS[template]}({arguments[0]})"
        is_list = node.kind == "construction"
        written = ", ".join(arguments)
        scope = node.scope.rpartition("::")[2]
        if {(scope or self.names.namespace, name), (scope, name)} & self.names.declared:
            reason = f"'{name}' is a C++ function of a header, which Python cannot call"
            raise NotPython(reason, *_first_word(node))
        if name in _TUPLES:
            return f"({written},)" if len(arguments) == 1 else f"({written})"
        if name in _LISTS or (is_list and name in _PASSED_ON and name.endswith("Ref")):
            return f"[{written}]"
        if name in _PASSED_ON and len(arguments) < 2:
            return written or "None"
        if not scope and name == "wrap_opt_if" and len(arguments) == 2:
            return f"({arguments[0]} if {arguments[1]} else None)"
        if not scope and name in _HELPERS:
            return _HELPERS[name].format(written)
        if scope == "std" and name in _MATH:
            return f"math.{name}({written})"
        own = name.removesuffix("_symint")
        if scope in ("", self.names.namespace) and own in self.names.operators:
            return self._operator(self.names.namespace, name, arguments)
        if scope == "" or scope in _ATEN:
            return self._operator("aten", name, arguments)
        raise _refusal_of_name(node)


def _refusal(shown: str, start: int, end: int | None = None) -> NotPython:
    reason = f"'{shown}' cannot be written in Python"
    return NotPython(reason, start, start + len(shown) if end is None else end)


def _first_word(node: Node) -> tuple[int, int]:
    """Return the place of the first word of a name, which may be a namespace."""
    scopes = node.scope.removeprefix("::")
    start = node.start + 2 if node.scope.startswith("::") else node.start
    return start, start + len(scopes.partition("::")[0] or node.text)


def _refusal_of_name(node: Node) -> NotPython:
    scope = node.scope.removeprefix("::")
    return _refusal(f"{scope}::{node.text}" if scope else node.text, *_first_word(node))


def _number(node: Node) -> str:
    text = node.text.rstrip("fFlLuU")
    octal = _OCTAL.fullmatch(text)
    if octal:
        return f"0o{octal[1]}"
    if not _NUMBER.fullmatch(text):
        raise _refusal(node.text, node.at)
    return text


def _characters(literal: Node) -> str:
    """Return the characters of a string, whose escapes are those of C++."""

    def character(escape: re.Match[str]) -> str:
        octal, *hexadecimal, other = escape.groups()
        number = int(octal, 8) if octal else int("".join(h or "" for h in hexadecimal) or "0", 16)
        if other:
            return _ESCAPED.get(other, other)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise _refusal(escape[0], literal.start, literal.end)
        return chr(number)

    return _ESCAPE.sub(character, literal.text[1:-1])


def _is_real(node: Node) -> bool:
    """Return whether a node is a number with a fraction, so that its division is that of Python."""
    while node.kind == "parens":
        node = node.parts[0]
    return node.kind == "number" and not node.text.isdigit() and any(c in ".eE" for c in node.text)


_CALL = "call"
# Variables of the generated functions.
_TAKEN = frozenset((_CALL, "torch", "math", "_gradients"))
_MASK = "grad_input_mask"
_INDEX = "i"


class PythonNode(Struct, frozen=True):
    """The formulas of an operator in Python: `gradients` are the numbers of the inputs that each serves, and its expression.

    `inputs` are the positions of the arguments with a formula, `refused` those of tensors of which no row says anything,
    `outputs` the numbers of the returns with a gradient.
    `parameters` and `results` name all arguments and results; `saved_inputs` and `saved_outputs` are expressions of
    these, whose values the formulas know by the names in `fields`. `locals` are statements before the formulas, `condition` says
    whether the result has a gradient. `functions` are the functions of operators that formulas call, as
    `namespace.name`.
    """

    inputs: tuple[int, ...]
    refused: tuple[int, ...]
    outputs: tuple[int, ...]
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    fields: tuple[str, ...]
    saved_inputs: tuple[str, ...]
    saved_outputs: tuple[str, ...]
    locals: tuple[str, ...]
    gradients: tuple[tuple[tuple[int, ...], str], ...]
    condition: str
    functions: frozenset[str]


class Refusal(Struct, frozen=True):
    """A part of a formula that has no form in Python."""

    message: str
    span: Span


def recorded_info(fn: DifferentiableFunction) -> DifferentiabilityInfo | None:
    """Return the formulas that Python records for `fn`; None if it has none, or only those of single tensors for a list."""
    info = fn.infos.get(DEFAULT_KEY)
    kind = fn.func.func.kind()
    if info is None or not info.has_derivatives or kind is SchemaKind.out:
        return None
    is_of_one = fn.func.root_name.startswith(FOREACH) and not info.func.root_name.startswith(
        FOREACH
    )
    return None if is_of_one else info


def python_node(
    fn: DifferentiableFunction,
    info: DifferentiabilityInfo,
    operators: AbstractSet[str],
    declared: AbstractSet[tuple[str, str]],
) -> PythonNode | Refusal:
    """Return the formulas of `fn` in Python, or the first part of them that has no form there.

    `operators` are the C++ names of the operators of its namespace, `declared` the functions of the author's headers.
    """
    return _Builder(fn, info, operators, declared).build()


def _as_variables(names: Iterable[str]) -> dict[str, str]:
    return {name: python_name(name, _TAKEN) for name in names}


class _Builder:
    def __init__(
        self,
        fn: DifferentiableFunction,
        info: DifferentiabilityInfo,
        operators: AbstractSet[str],
        declared: AbstractSet[tuple[str, str]],
    ) -> None:
        self.fn, self.info = fn, info
        self.operators, self.declared = operators, declared
        self.is_foreach = info.func.root_name.startswith(FOREACH)
        self.functions: set[str] = set()
        self.arguments = _as_variables(a.name for a in fn.func.func.arguments.flat_all)
        self.returned = _as_variables(
            "result" if name == "self" else name for name in return_names(fn.func)
        )
        self.fields = _as_variables(
            s.name for s in (*info.all_saved_inputs, *info.all_saved_outputs)
        )
        self.inputs = tuple(b.name for b in info.args_with_derivatives)

    def build(self) -> PythonNode | Refusal:
        info = self.info
        place = info.derivatives[0].place
        at = 0
        try:
            saved_inputs = tuple(self._text(s.expr, self.arguments) for s in info.all_saved_inputs)
            saved_outputs = tuple(self._text(s.expr, self.returned) for s in info.all_saved_outputs)
            condition = info.output_differentiability_condition
            decides = ""
            if condition is not None:
                place = condition.place
                decides = self._text(condition.text, self.arguments)
            gradients = []
            for derivative in info.derivatives:
                place, at = derivative.place, len(derivative.original_formula.text)
                gradients.append(self._gradient(derivative))
        except NotPython as error:
            whole = info.derivatives[0].original_formula if at == 0 else None
            is_written = whole is None and derivative.formula == derivative.original_formula
            span = place.part(error.start, min(error.end, at)) if is_written else place.span
            return Refusal(str(error), span)
        positions, outputs = list(self.arguments), differentiable_outputs(self.fn)
        named = return_names(self.fn.func)
        return PythonNode(
            inputs=tuple(map(positions.index, self.inputs)),
            refused=tuple(positions.index(a.name) for a in info.unmentioned_tensors),
            outputs=tuple(i for i, name in enumerate(named) if name in outputs) if named else (0,),
            parameters=tuple(self.arguments.values()),
            results=tuple(self.returned.values()),
            fields=tuple(self.fields.values()),
            saved_inputs=saved_inputs,
            saved_outputs=saved_outputs,
            locals=tuple(self._locals()),
            gradients=tuple(gradients),
            condition=decides,
            functions=frozenset(self.functions),
        )

    def _text(self, formula: str, values: dict[str, str]) -> str:
        names = Names(self.fn.func.namespace, values, self.operators, self.declared)
        found = as_python(formula, names)
        self.functions |= found.functions
        return found.text

    def _gradient(self, derivative: Derivative) -> tuple[tuple[int, ...], str]:
        numbers = tuple(self.inputs.index(name) for name in derivative.var_names)
        mask = ", ".join(f"{_CALL}.computes({i})" for i in numbers)
        values = {
            **self.fields,
            **{name: name for name in ("grad", *self.info.used_named_gradients)},
            "grads": f"{_CALL}.grads",
            "retain_variables": "True",
            _MASK: f"[{mask}]",
        }
        if not self.is_foreach:
            return numbers, self._text(derivative.formula.text, values)
        text = self._text(derivative.formula.text, {**values, _INDEX: _INDEX})
        return numbers, f"[{text} for {_INDEX} in range(len({_CALL}.grads))]"

    def _locals(self) -> Iterator[str]:
        formulas = [d.formula for d in self.info.derivatives]
        if any(formula.uses("grad") for formula in formulas) and not self.is_foreach:
            yield f"grad = {_CALL}.grads[0]"
        names = [r.name for r in self.info.func.func.returns]
        for name in sorted(self.info.used_named_gradients):
            yield f"{name} = {_CALL}.grad_of({names.index(name.removeprefix('grad_'))})"
