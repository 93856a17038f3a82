"""Read signatures from the declarators of parsed C++."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.importing.common.cpp_types import CppParameter, CppSignature, CppType
from opgen.importing.cpp.grammar import Node, Piece

# The most nested declarators or types.
_MAX_DEPTH = 30
_MARKS = ("reference_declarator", "pointer_declarator", "array_declarator", "variadic_declarator")
_PARAMETERS = frozenset(
    {
        "parameter_declaration",
        "optional_parameter_declaration",
        "variadic_parameter_declaration",
        "optional_type_parameter_declaration",
    }
)
_NAMED = ("identifier", "field_identifier", "type_identifier")


def read_signature(piece: Piece, node: Node, function: Node) -> CppSignature | None:
    """Return the signature of the declarator `function` in the declaration `node`; None if a part is not understood."""
    parameters = function.child_by_field_name("parameters")
    returns = _trailing_type(piece, function)
    if returns is None:
        returns = _type_of(piece, node, node.child_by_field_name("declarator"), function)
    read = None if parameters is None else _parameters(piece, parameters)
    return None if read is None or returns is None else CppSignature(returns, read)


def read_lambda(piece: Piece, node: Node) -> CppSignature | None:
    """Return the signature of a lambda; None if a part is not understood.

    The return type is None unless the lambda declares it, or returns no value.
    """
    function = node.child_by_field_name("declarator")
    body = node.child_by_field_name("body")
    if body is None:
        return None
    returns = None if function is None else _trailing_type(piece, function)
    if returns is None and not _returns_something(body):
        returns = CppType("void")
    parameters = None if function is None else function.child_by_field_name("parameters")
    read = () if parameters is None else _parameters(piece, parameters)
    return None if read is None else CppSignature(returns, read)


def find_function(node: Node) -> Node | None:
    """Return the function declarator of a declaration, inside `&` and `*` of its return type; None if it has none."""
    declarator = node.child_by_field_name("declarator")
    for _ in range(_MAX_DEPTH):
        if declarator is None or declarator.type == "function_declarator":
            return declarator
        if declarator.type not in _MARKS:
            return None
        inner = declarator.child_by_field_name("declarator")
        named = [child for child in declarator.children if child.is_named]
        declarator = inner if inner is not None else (named[-1] if named else None)
    return None


def read_type(piece: Piece, node: Node) -> CppType | None:
    """Return the type of a node with the field `type`, such as a `type_descriptor`; None if it is not understood."""
    return _type_of(piece, node, node.child_by_field_name("declarator"), None)


def _trailing_type(piece: Piece, function: Node) -> CppType | None:
    for child in function.children:
        if child.type == "trailing_return_type":
            described = [inner for inner in child.children if inner.is_named]
            return read_type(piece, described[0]) if described else None
    return None


def _parameters(piece: Piece, node: Node) -> tuple[CppParameter, ...] | None:
    parameters: list[CppParameter] = []
    for child in node.children:
        if child.is_error or child.is_missing:
            return None
        if child.type in _PARAMETERS:
            type_ = read_type(piece, child)
            if type_ is None:
                return None
            parameters.append(CppParameter(type_, _name_of(piece, child)))
        elif child.type == "..." or (child.is_named and child.type != "comment"):
            return None
    if len(parameters) == 1 and parameters[0].type == CppType("void"):
        return ()
    return tuple(parameters)


def _name_of(piece: Piece, parameter: Node) -> str:
    node = parameter.child_by_field_name("declarator")
    for _ in range(_MAX_DEPTH):
        if node is None or node.type in _NAMED:
            break
        named = [child for child in node.children if child.is_named]
        node = named[-1] if named else None
    return "" if node is None else piece.code(node)


def _type_of(
    piece: Piece, node: Node, declarator: Node | None, function: Node | None, depth: int = 0
) -> CppType | None:
    """Return the type of `node`, with the marks (`&`, `*`, `[]`) of `declarator` outside of `function`."""
    written = node.child_by_field_name("type")
    if written is None or depth > _MAX_DEPTH:
        return None
    base = _base_type(piece, written, depth)
    marks = _marks(piece, declarator, function)
    if base is None or marks is None:
        return None
    is_const = any(
        child.type == "type_qualifier" and piece.code(child) == "const" for child in node.children
    )
    return CppType(base.name, base.arguments, is_const, marks)


def _base_type(piece: Piece, node: Node, depth: int) -> CppType | None:
    if node.type == "dependent_type":
        named = [child for child in node.children if child.is_named]
        node = named[0] if named else node
    path: list[str] = []
    while node.type == "qualified_identifier":
        scope = node.child_by_field_name("scope")
        inner = node.child_by_field_name("name")
        if inner is None or (scope is not None and scope.type != "namespace_identifier"):
            return CppType("".join(piece.code(node).split()))
        path.append("" if scope is None else piece.code(scope))
        node = inner
    arguments: list[CppType] = []
    if node.type in ("template_type", "template_function"):
        listed = node.child_by_field_name("arguments")
        name = node.child_by_field_name("name")
        if listed is None or name is None:
            return None
        for child in (child for child in listed.children if child.is_named):
            argument = _template_argument(piece, child, depth)
            if argument is None:
                return None
            arguments.append(argument)
        node = name
    elif node.type not in _BASES:
        return None
    return CppType("::".join((*path, piece.code(node))), tuple(arguments))


_BASES = frozenset(
    {
        *("primitive_type", "type_identifier", "sized_type_specifier", "identifier"),
        *("placeholder_type_specifier", "auto", "namespace_identifier"),
    }
)


def _template_argument(piece: Piece, node: Node, depth: int) -> CppType | None:
    if node.type == "type_descriptor":
        return _type_of(piece, node, node.child_by_field_name("declarator"), None, depth + 1)
    return CppType(piece.code(node)) if not node.has_error else None


def _marks(piece: Piece, declarator: Node | None, function: Node | None) -> str | None:
    """Return the `&`, `&&`, `*` and `[]` of a declarator; None for others, such as pointers to functions."""
    marks = ""
    node = declarator
    for _ in range(_MAX_DEPTH):
        if node is None or node.type in _NAMED or node.type == "qualified_identifier":
            return marks
        if node == function:
            return marks
        kind = node.type.removeprefix("abstract_")
        if kind not in _MARKS:
            return None
        marks += "[]" if kind == "array_declarator" else piece.code(node.children[0])
        named = [child for child in node.children if child.is_named and child.type not in _SKIPPED]
        node = named[-1] if named else None
    return None


_SKIPPED = frozenset({"type_qualifier", "ms_restrict_modifier", "number_literal", "comment"})


def _returns_something(body: Node) -> bool:
    return any(
        node.type == "return_statement" and any(child.is_named for child in node.children)
        for node in _without_lambdas(body)
    )


def _without_lambdas(body: Node) -> Iterator[Node]:
    pending = [body]
    while pending:
        node = pending.pop()
        yield node
        pending += [child for child in node.children if child.type != "lambda_expression"]
