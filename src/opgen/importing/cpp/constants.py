"""Read calls on a library's variable, and evaluate their arguments: strings, dispatch keys, tags and kernels.

Kernels are functions, lambdas, boxed kernels and fallthroughs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.diagnostics import Source, Span
from opgen.importing.common.registrations import CppType, Kernel, KernelKind
from opgen.importing.cpp.functions import Functions, function_name, read_cast, read_lambda
from opgen.importing.cpp.grammar import Grammar, Node
from opgen.importing.cpp.macros import Macros, split_ranges
from opgen.importing.cpp.text import Choice, CppText, Excerpt, excerpt, find_string, read_cpp
from opgen.model.native_function import FALLTHROUGH

# The most combinations of branches of `#if` inside one call, and the most calls of a chain.
_MOST_CHOICES = 16
_MOST_CALLS = 2000
_METHOD = re.compile(r"\s*(?:\.|->)\s*(?:template\s+)?(\w+)\s*(<[^;{}()]*>)?\s*\(")


class Call(Struct, frozen=True):
    """`method<template>(arguments)` on a library. `span` begins at the variable, or at the dot of a later call."""

    method: str
    template: str
    arguments: tuple[Node, ...]
    span: Span
    conditions: tuple[str, ...]


def read_chain(
    text: CppText, place: int, name_end: int, end: int, grammar: Grammar
) -> tuple[tuple[Call, ...], int]:
    """Read the calls after the variable at `place`, whose name ends at `name_end`. Return them, and where they end.

    A call is returned once for each combination of branches of `#if` inside it. None are returned if there are too many
    combinations, or the chain is too long.
    """
    calls: list[Call] = []
    position = name_end
    while (match := _METHOD.match(text.masked, position, end)) is not None:
        start = place if position == name_end else match.start()
        combinations = _combinations(text, match.end() - 1, end)
        if combinations is None or len(calls) > _MOST_CALLS:
            return (), position
        for choice, closing in combinations:
            listed = excerpt(text, match.end() - 1, closing + 1, choice)
            arguments = tuple(_arguments(listed, grammar))
            template = (match[2] or "")[1:-1].strip()
            span = text.span(start, closing + 1)
            calls.append(Call(match[1], template, arguments, span, listed.conditions))
            position = max(position, closing + 1)
        if not combinations:
            break
    return tuple(calls), position


def _combinations(text: CppText, opening: int, end: int) -> list[tuple[Choice, int]] | None:
    """Return the choices of branches inside a call, each with the bracket that closes it; None if there are too many."""
    found: list[tuple[Choice, int]] = []
    pending: list[dict[int, int]] = [{}]
    while pending and len(found) + len(pending) <= _MOST_CHOICES:
        choice = pending.pop()
        closing = text.find_closing(opening, choice)
        if closing is None or closing >= end:
            continue
        groups = (b.group for b in text.branches_between(opening, closing) if b.index == 0)
        group = next((group for group in groups if id(group) not in choice), None)
        if group is None:
            found.append((choice, closing))
        else:
            count = len(group.branches) + (1 if group.otherwise else 0)
            pending += ({**choice, id(group): n} for n in reversed(range(count)))
    return None if pending else found


def read_brackets(text: CppText, place: int, opening: int, closing: int, grammar: Grammar) -> Call:
    """Read the arguments between two brackets as a call without a name. Each `#if` inside has its first branch."""
    listed = excerpt(text, opening, closing + 1)
    arguments = tuple(_arguments(listed, grammar))
    return Call("", "", arguments, text.span(place, closing + 1), listed.conditions)


def _arguments(listed: Excerpt, grammar: Grammar) -> Iterator[Node]:
    """Yield the arguments in brackets, split by the grammar, or at commas if they cannot be parsed."""
    root = grammar.parse_call(listed)
    nodes = None if root is None else _argument_nodes(root)
    if nodes is not None:
        yield from nodes
        return
    for first, last in split_ranges(listed.masked[1:-1]):
        code, masked = listed.code[1 + first : 1 + last], listed.masked[1 + first : 1 + last]
        yield _parse_argument(Excerpt(listed.text, listed.start + 1 + first, code, masked), grammar)


def _parse_argument(single: Excerpt, grammar: Grammar) -> Node:
    """Parse an excerpt that is a single argument."""
    root = grammar.parse_call(single, bare=True)
    nodes = None if root is None else _argument_nodes(root)
    if nodes is None or len(nodes) != 1:
        code = single.code
        start = single.start + len(code) - len(code.lstrip())
        return Node(single, start, single.start + len(code.rstrip()), None)
    return nodes[0]


def callee(node: Node) -> tuple[str, Node | None, list[Node]]:
    """Return the last part of a called name, the object that it is a method of, if any, and the arguments."""
    function, listed = (node.field(name) for name in ("function", "arguments"))
    arguments = [] if listed is None else listed.named
    owner = None
    for _ in range(_MAX_CALLS):
        if function is None:
            break
        if function.type == "field_expression":
            owner, function = (function.field(name) for name in ("argument", "field"))
        elif function.type in _WITH_NAME:
            function = function.field("name")
        else:
            return function.code, owner, arguments
    return "", owner, arguments


_WITH_NAME = frozenset({"qualified_identifier", "template_function", "template_method"})
_MAX_CALLS = 30


def _argument_nodes(root: Node) -> list[Node] | None:
    """Return the arguments of the parsed call; None if there is an error among them."""
    node: Node | None = root
    while node is not None and node.type != "argument_list":
        body = [child for child in node.named if child.type in _AROUND]
        node = body[-1] if body else None
    if node is None or any(child.is_error for child in node.children):
        return None
    return node.named


_AROUND = frozenset(
    {
        "function_definition",
        "compound_statement",
        "expression_statement",
        "call_expression",
        "argument_list",
    }
)


# The most steps from an argument to its value, or to its kernel.
_MAX_DEPTH = 12
# Functions and macros that return the string that they take.
_STRING_CALLS = frozenset(
    {
        *("schema", "parseSchema", "string", "string_view", "c_str", "data", "move"),
        *("TORCH_SELECTIVE_SCHEMA", "TORCH_SELECTIVE_NAME"),
    }
)
# Other names of keys. Source: the end of `enum class DispatchKey` in c10/core/DispatchKey.h.
_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "CatchAll": "CompositeImplicitAutograd",
        "Undefined": "CompositeImplicitAutograd",
        "DefaultBackend": "CompositeExplicitAutograd",
        "CPUTensorId": "CPU",
        "CUDATensorId": "CUDA",
        "PrivateUse1_PreAutograd": "AutogradPrivateUse1",
        "PrivateUse2_PreAutograd": "AutogradPrivateUse2",
        "PrivateUse3_PreAutograd": "AutogradPrivateUse3",
        "Autocast": "AutocastCUDA",
    }
)
# Source of the devices: `dispatch` in torch/library.h.
_KEY = re.compile(
    r"(?:\w+::)*(?:DispatchKey|DeviceType)::(\w+)"
    r"|(?:\w+::)*k(CPU|CUDA|IPU|XLA|Lazy|XPU|MPS|Meta|HIP|MAIA|HPU|MTIA|PrivateUse1)"
)
_TAG = re.compile(r"\bTag\s*::\s*(\w+)")
_TAGS_ALONE = re.compile(r"[\w:<>\s]*\{[\w:,\s]*\}|(?:\w+\s*::\s*)*Tag\s*::\s*\w+")
_PATH = re.compile(r"[\w:]+")
# `name = value`, `name[] = value`, `name{value}`.
_ASSIGNED = re.compile(r"(?<![\w.>:])([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)?(=(?!=)|\{)")
# The text before a name that is defined there, and the text before a name that only looks like it.
_DECLARES = re.compile(r"(?<!\breturn)[\w*&>\]]\s*$")
_OPENS = re.compile(r"\b(?:class|struct|union|enum|namespace|return|case|else)\s*$")


def canonical_key(name: str) -> str:
    """Return the name under which PyTorch lists a dispatch key."""
    return _KEYS.get(name, name)


class Constants(Struct, frozen=True):
    """Evaluates constants and macros. Definitions in the same file have priority over those in other files."""

    texts: Sequence[CppText]
    macros: Macros
    grammar: Grammar
    _values: dict[tuple[str, CppText], list[Node]] = field(default_factory=dict)
    _indexes: dict[CppText, Mapping[str, Sequence[re.Match[str]]]] = field(default_factory=dict)

    def find_string(self, argument: Node) -> str | None:
        """Return the string that an argument stands for; None if it is known only at run time."""
        return self._string(argument, _MAX_DEPTH)

    def find_key(self, argument: Node) -> str | None:
        """Return the dispatch key of `torch::kCUDA`, `c10::DispatchKey::CPU`, or a constant with such a value."""
        return self._key(argument.code, argument.excerpt.text, _MAX_DEPTH)

    def find_tags(self, argument: Node) -> tuple[str, ...] | None:
        """Return the tags that an argument lists; None if it is not a list of tags."""
        written = argument.code
        if _TAGS_ALONE.fullmatch(written) is not None:
            return tuple(dict.fromkeys(_TAG.findall(written)))
        if _PATH.fullmatch(written) is None:
            return None
        values = self.initializers(_last_name(written), argument.excerpt.text)
        codes = {value.code for value in values}
        code = codes.pop() if len(codes) == 1 else ""
        code = code if code.endswith("}") else f"{{{code}}}"
        is_tags = _TAGS_ALONE.fullmatch(code) is not None and _TAG.search(code) is not None
        return tuple(dict.fromkeys(_TAG.findall(code))) if is_tags else None

    # Definitions of names

    def initializers(self, name: str, text: CppText) -> list[Node]:
        """Return the values that define a constant or a macro, in the file itself, or else in the others."""
        key = (name, text)
        if key not in self._values:
            plain = [d for d in self.macros.definitions(name, text) if d.parameters is None]
            values = [self.parse_body(define.body, text) for define in plain]
            values += self._assigned(name, text)
            others = [] if values else [other for other in self.texts if other is not text]
            values += (value for other in others for value in self._assigned(name, other))
            self._values[key] = values
        return self._values[key]

    def parse_body(self, body: str, text: CppText) -> Node:
        """Parse the body of a macro as an argument."""
        body_text = read_cpp(Source(text.source.path, body))
        return _parse_argument(excerpt(body_text, 0, len(body)), self.grammar)

    def expand(self, argument: Node) -> Node | None:
        """Return the argument with its macros expanded; None if there are none, or what they are is not known."""
        text = argument.excerpt.text
        body = self.macros.preprocess(argument.written, text, argument.start)
        return None if body in (None, argument.written) else self.parse_body(body or "", text)

    def _assigned(self, name: str, text: CppText) -> Iterator[Node]:
        for match in self._assignments(text).get(name, ()):
            before = text.masked[max(0, match.start() - 60) : match.start()]
            if _DECLARES.search(before) is None or _OPENS.search(before) is not None:
                continue
            if text.is_dead(match.start()):
                continue
            start = match.end()
            in_braces = match[2] == "{"
            end = text.find_closing(start - 1) if in_braces else text.find_statement_end(start)
            if end is not None:
                yield _parse_argument(excerpt(text, start, end), self.grammar)

    def _assignments(self, text: CppText) -> Mapping[str, Sequence[re.Match[str]]]:
        """Return the places of a file that look like `name = value`, by name."""
        if text not in self._indexes:
            index: dict[str, list[re.Match[str]]] = {}
            for match in _ASSIGNED.finditer(text.masked):
                index.setdefault(match[1], []).append(match)
            self._indexes[text] = index
        return self._indexes[text]

    # Strings

    def _string(self, argument: Node, depth: int) -> str | None:
        found = self._expression(argument, depth - 1) if depth > 0 else None
        if found is None and depth > 0:
            expanded = self.expand(argument)
            found = None if expanded is None else self._string(expanded, depth - 1)
        return found

    def _constant(self, name: str, text: CppText, depth: int) -> str | None:
        """Return the string that all definitions of a name have as their value; None if they differ."""
        if depth <= 0:
            return None
        values = {self._string(value, depth) for value in self.initializers(name, text)}
        return values.pop() if len(values) == 1 else None

    def _expression(self, node: Node, depth: int) -> str | None:
        match node.type:
            case "string_literal" | "raw_string_literal":
                # The excerpt has `?` for characters that are not ASCII, the source has the characters.
                return find_string(node.span.text)
            case "concatenated_string":
                return _join([self._string(part, depth) for part in node.named])
            case "identifier":
                return self._constant(node.code, node.excerpt.text, depth)
            case "parenthesized_expression" | "initializer_list":
                inner = node.named
                return self._string(inner[0], depth) if len(inner) == 1 else None
            case "qualified_identifier":
                return self._constant(_last_name(node.code), node.excerpt.text, depth)
            case "compound_literal_expression":
                value = node.field("value")
                return None if value is None else self._string(value, depth)
            case "binary_expression":
                operator = node.field("operator")
                if operator is None or operator.type != "+":
                    return None
                sides = [node.field(side) for side in ("left", "right")]
                return _join([None if one is None else self._string(one, depth) for one in sides])
            case "call_expression":
                name, owner, arguments = callee(node)
                value = owner if owner is not None else next(iter(arguments), None)
                if value is None or name not in _STRING_CALLS:
                    return None
                return self._string(value, depth)
            case _:
                return None

    # Keys

    def _key(self, code: str, text: CppText, depth: int) -> str | None:
        code = "".join(code.split()).strip("{}")
        key = _KEY.fullmatch(code)
        if key is not None:
            return canonical_key(key[1] or key[2])
        if depth <= 0 or _PATH.fullmatch(code) is None:
            return None
        values = self.initializers(_last_name(code), text)
        keys = {self._key(value.code, value.excerpt.text, depth - 1) for value in values}
        return keys.pop() if len(keys) == 1 else None


def _last_name(path: str) -> str:
    return path.rpartition("::")[2].strip()


def _join(parts: Sequence[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return "".join(known) if len(known) == len(parts) else None


# The most characters of a kernel in a message.
_MAX_SHOWN = 60
# Functions, macros and casts that return the kernel that is their argument; `debug` is a method of a kernel and returns it.
_KERNEL_CALLS = frozenset(
    {
        *("TORCH_FN", "TORCH_BOX", "CppFunction", "makeFromUnboxedFunction", "debug"),
        *("makeFromUnboxedRuntimeFunction", "makeFromUnboxedLambda", "move", "forward"),
        *("static_cast", "reinterpret_cast"),
    }
)
_BOXED = re.compile(r"makeFromBoxed\w*|\w*[fF]allback")
_NAMES = frozenset({"identifier", "qualified_identifier", "template_function"})


class KernelReader(Struct, frozen=True):
    """Reads kernels, through constants and macros."""

    constants: Constants
    functions: Functions

    def read(self, argument: Node) -> Kernel:
        """Return the kernel of an argument. Its kind is `unknown` if it is known only at run time."""
        return self._read(argument, argument, _MAX_DEPTH)

    def _read(self, node: Node, whole: Node, depth: int) -> Kernel:
        inner = _inner(node)
        if depth <= 0:
            return _unknown(whole)
        if inner is not None:
            return _cast(self._read(inner, whole, depth - 1), node.field("type"))
        if node.type == "lambda_expression":
            signature = read_lambda(node)
            if signature is not None and signature.returns is None:
                signature = replace(signature, returns=self._returned(node))
            return Kernel(KernelKind.unnamed, "a lambda", whole.span, signature=signature)
        if node.type in _NAMES:
            return self._named(node, whole, depth)
        if node.type == "call_expression":
            return self._called(node, whole, depth)
        return _unknown(whole)

    def _returned(self, node: Node) -> CppType | None:
        """Return the type of a lambda that only returns the result of a function; None for others."""
        body = node.field("body")
        statements = [] if body is None else body.named
        values = statements[0].named if len(statements) == 1 else []
        if len(values) != 1 or statements[0].type != "return_statement":
            return None
        called = values[0].field("function")
        is_call = values[0].type == "call_expression" and called is not None
        name = function_name(called) if is_call and called is not None else None
        if name is None:
            return None
        found = self.functions.find(name, node.excerpt.text, node.start)
        types = set()
        for function in found:
            returns = function.signature.returns
            if returns is None or function.template:
                return None
            # `auto`, as PyTorch's compiler deduces it, has no reference.
            resolved = self.functions.names_of(function.text).resolved(returns)
            types.add(replace(resolved, is_const=False, mark=resolved.mark.replace("&", "")))
        return types.pop() if len(types) == 1 else None

    def _named(self, node: Node, whole: Node, depth: int) -> Kernel:
        written = node.code
        if node.type == "identifier":
            text, macros = node.excerpt.text, self.constants.macros
            found = macros.definitions(written, text, node.start)
            bodies = {define.body for define in found if define.parameters is None}
            if len(bodies) > 1:
                return _unknown(whole)
            values = [self.constants.parse_body(body, text) for body in bodies]
            for value in (*values, *self.constants.initializers(written, text))[:1]:
                if value.type:
                    return replace(self._read(value, value, depth - 1), span=whole.span)
        name = function_name(node)
        if name is None:
            return _unknown(whole)
        return Kernel(KernelKind.function, str(name), whole.span, name)

    def _called(self, node: Node, whole: Node, depth: int) -> Kernel:
        name, owner, arguments = callee(node)
        if name == "makeFallthrough":
            return Kernel(KernelKind.fallthrough, FALLTHROUGH, whole.span)
        if name == "dispatch" and len(arguments) == 2:
            key = self.constants.find_key(arguments[0])
            return replace(self._read(arguments[1], whole, depth - 1), key=key)
        if _BOXED.fullmatch(name):
            return Kernel(KernelKind.boxed, _shown(whole), whole.span)
        inner = owner if name == "debug" else next(iter(arguments), None)
        if inner is not None and name in _KERNEL_CALLS:
            read = self._read(inner, whole, depth - 1)
            return _cast(read, _type_argument(node) if name == "static_cast" else None)
        # A macro with arguments.
        value = self.constants.expand(node)
        if value is None or not value.type:
            return _unknown(whole)
        return replace(self._read(value, value, depth - 1), span=whole.span)


def _inner(node: Node) -> Node | None:
    """Return the `f` of `&f`, `+f`, `(f)` and `(Type)f`."""
    children = node.named
    match node.type:
        case "pointer_expression" | "unary_expression" | "parenthesized_expression":
            return children[0] if len(children) == 1 else None
        case "cast_expression":
            return node.field("value")
        case "binary_expression":
            # The grammar parses `(Type)&f` as a bitwise and.
            left, right = (node.field(side) for side in ("left", "right"))
            is_cast = left is not None and left.type == "parenthesized_expression"
            operator = node.field("operator")
            is_address = operator is not None and operator.type == "&"
            return right if is_cast and is_address else None
        case _:
            return None


def _type_argument(node: Node) -> Node | None:
    """Return the `T` of `static_cast<T>(f)`."""
    function = node.field("function")
    arguments = None if function is None else function.field("arguments")
    return None if arguments is None else next(iter(arguments.named), None)


def _cast(kernel: Kernel, type_: Node | None) -> Kernel:
    """Return a kernel that is cast to `type_`, if it is a function that is not cast yet."""
    if type_ is None or kernel.kind is not KernelKind.function or kernel.signature is not None:
        return kernel
    return replace(kernel, signature=read_cast(type_))


def _unknown(whole: Node) -> Kernel:
    return Kernel(KernelKind.unknown, _shown(whole), whole.span)


def _shown(argument: Node) -> str:
    code = argument.code
    return code if len(code) <= _MAX_SHOWN else f"{code[: _MAX_SHOWN - 3]}..."
