"""Kernels that arguments of a registration name: functions, lambdas, boxed kernels, fallthroughs."""

from __future__ import annotations

import re

from opgen.dataclasses import dataclass, replace
from opgen.importing.cpp_calls import Argument, callee, named_children
from opgen.importing.cpp_constants import Constants
from opgen.importing.cpp_declarations import read_lambda
from opgen.importing.cpp_grammar import Node, Piece
from opgen.importing.registrations import FALLTHROUGH, FunctionName, Kernel, KernelKind

_DEEPEST = 12
# So many characters of a kernel are shown.
_SHOWN = 60
# Functions and macros that give back the kernel that they are given, or that they are a method of.
_KERNEL_CALLS = frozenset(
    {
        *("TORCH_FN", "TORCH_BOX", "CppFunction", "makeFromUnboxedFunction", "debug"),
        *("makeFromUnboxedRuntimeFunction", "makeFromUnboxedLambda", "move", "forward"),
    }
)
_BOXED = re.compile(r"makeFromBoxed\w*|\w*[fF]allback")
_CASTS = frozenset({"static_cast", "reinterpret_cast"})
_NAMES = frozenset({"identifier", "qualified_identifier", "template_function"})
_PART = re.compile(r"\w+\s*(?:<.*>)?", re.DOTALL)
_LAST = re.compile(r"(?:template\s+)?(\w+)\s*(<.*>)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RegisteredKernel:
    """A kernel, and the dispatch key that `torch::dispatch` gives it, if it does."""

    kernel: Kernel
    key: str | None = None


@dataclass(frozen=True, slots=True)
class KernelReader:
    constants: Constants

    def read(self, argument: Argument) -> RegisteredKernel:
        """What the argument registers; of an unknown kind if that is not known before the program runs."""
        if argument.piece is None or argument.node is None:
            return _unknown(argument)
        return self._read(argument.piece, argument.node, argument, _DEEPEST)

    def _read(self, piece: Piece, node: Node, whole: Argument, depth: int) -> RegisteredKernel:
        inner, is_cast = _inner(node)
        if depth <= 0:
            return _unknown(whole)
        if inner is not None:
            return _cast(self._read(piece, inner, whole, depth - 1), is_cast)
        if node.type == "lambda_expression":
            signature = read_lambda(piece, node)
            kernel = Kernel(KernelKind.unnamed, "a lambda", whole.span, signature=signature)
            return RegisteredKernel(kernel)
        if node.type in _NAMES:
            return self._named(piece, node, whole, depth)
        if node.type == "call_expression":
            return self._called(piece, node, whole, depth)
        return _unknown(whole)

    def _named(self, piece: Piece, node: Node, whole: Argument, depth: int) -> RegisteredKernel:
        words = piece.words(node)
        if node.type == "identifier":
            for value in self.constants.initializers(words, piece.excerpt.text)[:1]:
                if value.piece is not None and value.node is not None:
                    found = self._read(value.piece, value.node, value, depth - 1)
                    return replace(found, kernel=replace(found.kernel, span=whole.span))
        name = find_function_name(words)
        if name is None:
            return _unknown(whole)
        return RegisteredKernel(Kernel(KernelKind.function, str(name), whole.span, name))

    def _called(self, piece: Piece, node: Node, whole: Argument, depth: int) -> RegisteredKernel:
        name, of, arguments = callee(piece, node)
        if name == "makeFallthrough":
            return RegisteredKernel(Kernel(KernelKind.fallthrough, FALLTHROUGH, whole.span))
        if name == "dispatch" and len(arguments) == 2:
            key = self.constants.find_key(_as_argument(piece, arguments[0]))
            return replace(self._read(piece, arguments[1], whole, depth - 1), key=key)
        if _BOXED.fullmatch(name):
            return RegisteredKernel(Kernel(KernelKind.boxed, _shown(whole), whole.span))
        given = of if name == "debug" else next(iter(arguments), None)
        if given is not None and (name in _KERNEL_CALLS or name in _CASTS):
            return _cast(self._read(piece, given, whole, depth - 1), name in _CASTS)
        return self._macro(piece, name, arguments, whole, depth)

    def _macro(
        self, piece: Piece, name: str, arguments: list[Node], whole: Argument, depth: int
    ) -> RegisteredKernel:
        """The kernel that a macro with arguments stands for."""
        text, macros = piece.excerpt.text, self.constants.macros
        given = [piece.words(argument) for argument in arguments]
        bodies = {macros.substituted(define, given) for define in macros.named(name, text)}
        body = bodies.pop() if len(bodies) == 1 else None
        value = None if body is None else self.constants.written_out(body, text)
        if value is None or value.piece is None or value.node is None:
            return _unknown(whole)
        found = self._read(value.piece, value.node, value, depth - 1)
        return replace(found, kernel=replace(found.kernel, span=whole.span))


def find_function_name(words: str) -> FunctionName | None:
    """The parts of a function's name as it is written, `a::b<int>::f<float>`; None if it is none."""
    parts = [part.strip() for part in _path(words)]
    is_absolute = len(parts) > 1 and not parts[0]
    parts = parts[1:] if is_absolute else parts
    last = _LAST.fullmatch(parts[-1])
    if last is None or not all(map(_PART.fullmatch, parts[:-1])):
        return None
    return FunctionName(tuple(parts[:-1]), last[1], last[2] or "", is_absolute)


def _path(words: str) -> list[str]:
    """The parts between `::` that stand in no template arguments."""
    parts, depth, begin = [], 0, 0
    for found in re.finditer(r"::|[<>()]", words):
        if found[0] == "::":
            if depth == 0:
                parts.append(words[begin : found.start()])
                begin = found.end()
        else:
            depth += 1 if found[0] in "<(" else -1
    return [*parts, words[begin:]]


def _inner(node: Node) -> tuple[Node | None, bool]:
    """What `&f`, `+f`, `(f)` and `(Type)f` hold, and whether it is chosen by its type."""
    children = named_children(node)
    match node.type:
        case "pointer_expression" | "unary_expression" | "parenthesized_expression":
            return (children[0] if len(children) == 1 else None), False
        case "cast_expression":
            return node.child_by_field_name("value"), True
        case "binary_expression":
            # `(Type)&f` reads like a sum of bits.
            left, right = (node.child_by_field_name(side) for side in ("left", "right"))
            is_cast = left is not None and left.type == "parenthesized_expression"
            operator = node.child_by_field_name("operator")
            is_address = operator is not None and operator.type == "&"
            return (right, True) if is_cast and is_address else (None, False)
        case _:
            return None, False


def _cast(found: RegisteredKernel, is_cast: bool) -> RegisteredKernel:
    return replace(found, kernel=replace(found.kernel, is_cast=True)) if is_cast else found


def _as_argument(piece: Piece, node: Node) -> Argument:
    return Argument(piece.excerpt, piece.start(node), piece.end(node), piece, node)


def _unknown(whole: Argument) -> RegisteredKernel:
    return RegisteredKernel(Kernel(KernelKind.unknown, _shown(whole), whole.span))


def _shown(argument: Argument) -> str:
    words = " ".join(argument.code.split())
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 3]}..."
