"""Read the kernels that arguments of registrations stand for: functions, lambdas, boxed kernels, fallthroughs."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from opgen.importing.common.registrations import CppType, Kernel, KernelKind
from opgen.importing.cpp.constants import Constants, callee
from opgen.importing.cpp.functions import Functions, function_name, read_cast, read_lambda
from opgen.importing.cpp.grammar import Node
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
