"""Read the kernels that arguments of registrations stand for: functions, lambdas, boxed kernels, fallthroughs."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from opgen.importing.common.registrations import CppType, FunctionName, Kernel, KernelKind
from opgen.importing.cpp.constants import Argument, Constants, callee, named_children
from opgen.importing.cpp.functions import Functions, read_cast, read_lambda
from opgen.importing.cpp.grammar import Node, Piece
from opgen.model.native_function import FALLTHROUGH

# The most steps from an argument to its kernel.
_MAX_DEPTH = 12
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
_PART = re.compile(r"\w+\s*(?:<.*>)?", re.DOTALL)
_LAST = re.compile(r"(?:template\s+)?(\w+)\s*(<.*>)?", re.DOTALL)


class KernelReader(Struct, frozen=True):
    """Reads kernels, through constants and macros."""

    constants: Constants
    functions: Functions

    def read(self, argument: Argument) -> Kernel:
        """Return the kernel of an argument. Its kind is `unknown` if it is known only at run time."""
        if argument.piece is None or argument.node is None:
            return _unknown(argument)
        return self._read(argument.piece, argument.node, argument, _MAX_DEPTH)

    def _read(self, piece: Piece, node: Node, whole: Argument, depth: int) -> Kernel:
        inner = _inner(node)
        if depth <= 0:
            return _unknown(whole)
        if inner is not None:
            read = self._read(piece, inner, whole, depth - 1)
            return _cast(read, piece, node.child_by_field_name("type"))
        if node.type == "lambda_expression":
            signature = read_lambda(piece, node)
            if signature is not None and signature.returns is None:
                signature = replace(signature, returns=self._returned(piece, node))
            return Kernel(KernelKind.unnamed, "a lambda", whole.span, signature=signature)
        if node.type in _NAMES:
            return self._named(piece, node, whole, depth)
        if node.type == "call_expression":
            return self._called(piece, node, whole, depth)
        return _unknown(whole)

    def _returned(self, piece: Piece, node: Node) -> CppType | None:
        """Return the type of a lambda that only returns the result of a function; None for others."""
        body = node.child_by_field_name("body")
        statements = [] if body is None else named_children(body)
        values = named_children(statements[0]) if len(statements) == 1 else []
        if len(values) != 1 or statements[0].type != "return_statement":
            return None
        called = values[0].child_by_field_name("function")
        is_call = values[0].type == "call_expression" and called is not None
        name = find_function_name(piece.code(called)) if is_call and called is not None else None
        if name is None:
            return None
        text = piece.excerpt.text
        found = self.functions.find(name, text, piece.start(node))
        types = set()
        for function in found:
            returns = function.signature.returns
            if returns is None or function.template:
                return None
            # `auto`, as PyTorch's compiler deduces it, has no reference.
            resolved = self.functions.names_of(function.text).resolved(returns)
            types.add(replace(resolved, is_const=False, mark=resolved.mark.replace("&", "")))
        return types.pop() if len(types) == 1 else None

    def _named(self, piece: Piece, node: Node, whole: Argument, depth: int) -> Kernel:
        written = piece.code(node)
        if node.type == "identifier":
            text, macros = piece.excerpt.text, self.constants.macros
            found = macros.definitions(written, text, piece.start(node))
            bodies = {define.body for define in found if define.parameters is None}
            if len(bodies) > 1:
                return _unknown(whole)
            values = [self.constants.parse_body(body, text) for body in bodies]
            for value in (*values, *self.constants.initializers(written, text))[:1]:
                if value.piece is not None and value.node is not None:
                    read = self._read(value.piece, value.node, value, depth - 1)
                    return replace(read, span=whole.span)
        name = find_function_name(written)
        if name is None:
            return _unknown(whole)
        return Kernel(KernelKind.function, str(name), whole.span, name)

    def _called(self, piece: Piece, node: Node, whole: Argument, depth: int) -> Kernel:
        name, owner, arguments = callee(piece, node)
        if name == "makeFallthrough":
            return Kernel(KernelKind.fallthrough, FALLTHROUGH, whole.span)
        if name == "dispatch" and len(arguments) == 2:
            key = self.constants.find_key(_as_argument(piece, arguments[0]))
            return replace(self._read(piece, arguments[1], whole, depth - 1), key=key)
        if _BOXED.fullmatch(name):
            return Kernel(KernelKind.boxed, _shown(whole), whole.span)
        inner = owner if name == "debug" else next(iter(arguments), None)
        if inner is not None and name in _KERNEL_CALLS:
            read = self._read(piece, inner, whole, depth - 1)
            return _cast(read, piece, _type_argument(node) if name == "static_cast" else None)
        # A macro with arguments.
        value = self.constants.expand(_as_argument(piece, node))
        if value is None or value.piece is None or value.node is None:
            return _unknown(whole)
        return replace(self._read(value.piece, value.node, value, depth - 1), span=whole.span)


def find_function_name(code: str) -> FunctionName | None:
    """Parse the name of a function, such as `a::b<int>::f<float>`; None if `code` is not a name."""
    parts = [part.strip() for part in _path(code)]
    is_absolute = len(parts) > 1 and not parts[0]
    parts = parts[1:] if is_absolute else parts
    last = _LAST.fullmatch(parts[-1])
    if last is None or not all(map(_PART.fullmatch, parts[:-1])):
        return None
    return FunctionName(tuple(parts[:-1]), last[1], last[2] or "", is_absolute)


def _path(code: str) -> list[str]:
    """Split `code` at each `::` outside of template arguments."""
    parts, depth, begin = [], 0, 0
    for mark in re.finditer(r"::|[<>()]", code):
        if mark[0] == "::":
            if depth == 0:
                parts.append(code[begin : mark.start()])
                begin = mark.end()
        else:
            depth += 1 if mark[0] in "<(" else -1
    return [*parts, code[begin:]]


def _inner(node: Node) -> Node | None:
    """Return the `f` of `&f`, `+f`, `(f)` and `(Type)f`."""
    children = named_children(node)
    match node.type:
        case "pointer_expression" | "unary_expression" | "parenthesized_expression":
            return children[0] if len(children) == 1 else None
        case "cast_expression":
            return node.child_by_field_name("value")
        case "binary_expression":
            # The grammar parses `(Type)&f` as a bitwise and.
            left, right = (node.child_by_field_name(side) for side in ("left", "right"))
            is_cast = left is not None and left.type == "parenthesized_expression"
            operator = node.child_by_field_name("operator")
            is_address = operator is not None and operator.type == "&"
            return right if is_cast and is_address else None
        case _:
            return None


def _type_argument(node: Node) -> Node | None:
    """Return the `T` of `static_cast<T>(f)`."""
    function = node.child_by_field_name("function")
    arguments = None if function is None else function.child_by_field_name("arguments")
    return None if arguments is None else next(iter(named_children(arguments)), None)


def _cast(kernel: Kernel, piece: Piece, type_: Node | None) -> Kernel:
    """Return a kernel that is cast to `type_`, if it is a function that is not cast yet."""
    if type_ is None or kernel.kind is not KernelKind.function or kernel.signature is not None:
        return kernel
    return replace(kernel, signature=read_cast(piece, type_))


def _as_argument(piece: Piece, node: Node) -> Argument:
    return Argument(piece.excerpt, piece.start(node), piece.end(node), piece, node)


def _unknown(whole: Argument) -> Kernel:
    return Kernel(KernelKind.unknown, _shown(whole), whole.span)


def _shown(argument: Argument) -> str:
    code = " ".join(argument.code.split())
    return code if len(code) <= _MAX_SHOWN else f"{code[: _MAX_SHOWN - 3]}..."
