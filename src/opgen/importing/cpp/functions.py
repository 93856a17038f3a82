"""Find the declarations and definitions of C++ functions that registrations name, and read their signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from opgen.diagnostics import Located, Span
from opgen.importing.common.registrations import (
    CppParameter,
    CppSignature,
    CppType,
    FunctionName,
    Names,
)
from opgen.importing.cpp.grammar import Grammar, Node
from opgen.importing.cpp.text import CppText, Includes, Scope, excerpt

_T = TypeVar("_T")
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


class _NotUnderstood(Exception):
    """A part of a declaration that is not read."""


def _understood(read: Callable[..., _T], *given: object) -> _T | None:
    try:
        return read(*given)
    except _NotUnderstood:
        return None


def _read_signature(node: Node, function: Node) -> CppSignature:
    """Return the signature of the declarator `function` in the declaration `node`. Raises _NotUnderstood."""
    returns = _trailing_type(function) or _type_of(node, function)
    return CppSignature(returns, _parameters(_required(function, "parameters")))


def read_lambda(node: Node) -> CppSignature | None:
    """Return the signature of a lambda; None if a part is not understood.

    The return type is None unless the lambda declares it, or returns no value.
    """
    return _understood(_read_lambda, node)


def _read_lambda(node: Node) -> CppSignature:
    function = node.field("declarator")
    returns = None if function is None else _trailing_type(function)
    if returns is None and not _returns_something(_required(node, "body")):
        returns = CppType("void")
    parameters = None if function is None else function.field("parameters")
    return CppSignature(returns, () if parameters is None else _parameters(parameters))


def read_cast(node: Node) -> CppSignature | None:
    """Return the signature of `R (*)(A, B)`, the type of a cast; None for other types, such as aliases."""
    function = find_function(node)
    return None if function is None else _understood(_read_signature, node, function)


def find_function(node: Node) -> Node | None:
    """Return the function declarator of a declaration or type, inside `&` and `*` of its return type; None if it has none."""
    declarator = node.field("declarator")
    for _ in range(_MAX_DEPTH):
        kind = "" if declarator is None else declarator.type.removeprefix("abstract_")
        if declarator is None or kind == "function_declarator":
            return declarator
        if kind not in _MARKS:
            return None
        declarator = declarator.field("declarator") or next(reversed(declarator.named), None)
    return None


def _required(node: Node, name: str) -> Node:
    found = node.field(name)
    if found is None:
        raise _NotUnderstood
    return found


def _trailing_type(function: Node) -> CppType | None:
    for child in function.children:
        if child.type == "trailing_return_type" and child.named:
            return _understood(_type_of, child.named[0])
    return None


def _parameters(node: Node) -> tuple[CppParameter, ...]:
    named = node.named
    if any(child.is_error or child.type == "..." for child in node.children):
        raise _NotUnderstood
    if any(child.type not in _PARAMETERS for child in named):
        raise _NotUnderstood
    parameters = tuple(CppParameter(_type_of(child), _name_of(child)) for child in named)
    is_void = len(parameters) == 1 and parameters[0].type == CppType("void")
    return () if is_void else parameters


def _name_of(parameter: Node) -> str:
    node = parameter.field("declarator")
    for _ in range(_MAX_DEPTH):
        if node is None or node.type in _NAMED:
            break
        node = node.named[-1] if node.named else None
    return "" if node is None else node.code


def _type_of(node: Node, function: Node | None = None, depth: int = 0) -> CppType:
    """Return the type in a node with the field `type`, with the marks (`&`, `*`, `[]`) outside of `function`."""
    if depth > _MAX_DEPTH:
        raise _NotUnderstood
    base = _base_type(_required(node, "type"), depth)
    is_const = any(
        child.type == "type_qualifier" and child.code == "const" for child in node.children
    )
    return CppType(base.name, base.arguments, is_const, _marks(node.field("declarator"), function))


def _base_type(node: Node, depth: int) -> CppType:
    if node.type == "dependent_type":
        node = node.named[0] if node.named else node
    path: list[str] = []
    while node.type == "qualified_identifier":
        scope, inner = node.field("scope"), node.field("name")
        if inner is None or (scope is not None and scope.type != "namespace_identifier"):
            return CppType("".join(node.code.split()))
        path.append("" if scope is None else scope.code)
        node = inner
    arguments: list[CppType] = []
    if node.type in ("template_type", "template_function"):
        listed = _required(node, "arguments").named
        arguments += (_template_argument(child, depth) for child in listed)
        node = _required(node, "name")
    elif node.type not in _BASES:
        raise _NotUnderstood
    return CppType("::".join((*path, node.code)), tuple(arguments))


_BASES = frozenset(
    {
        *("primitive_type", "type_identifier", "sized_type_specifier", "identifier"),
        *("placeholder_type_specifier", "auto", "namespace_identifier"),
    }
)


def _template_argument(node: Node, depth: int) -> CppType:
    if node.type == "type_descriptor":
        return _type_of(node, None, depth + 1)
    if node.has_error:
        raise _NotUnderstood
    return CppType(node.code)


def _marks(node: Node | None, function: Node | None) -> str:
    """Return the `&`, `&&`, `*` and `[]` of a declarator outside of `function`."""
    marks = ""
    for _ in range(_MAX_DEPTH):
        if node is None or node.type in (*_NAMED, "qualified_identifier") or node == function:
            return marks
        kind = node.type.removeprefix("abstract_")
        if kind not in _MARKS:
            break
        marks += "[]" if kind == "array_declarator" else node.children[0].code
        named = [child for child in node.named if child.type not in _SKIPPED]
        node = named[-1] if named else None
    raise _NotUnderstood


_SKIPPED = frozenset({"type_qualifier", "ms_restrict_modifier", "number_literal"})


def _returns_something(body: Node) -> bool:
    pending = [body]
    while pending:
        node = pending.pop()
        if node.type == "return_statement" and node.named:
            return True
        pending += [child for child in node.children if child.type != "lambda_expression"]
    return False


HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".cuh", ".inl", ".inc")
# The most occurrences of a name before a bracket that are examined, in all sources together.
_MOST_PLACES = 2000
# The most characters from the start of a declaration, with its template parameters, to its name.
_HEAD = 2000
_BOUNDARY = re.compile(r"[;{}]|(?<!:):(?!:)")
_TAIL = re.compile(
    r"\s*(?:const\b\s*|noexcept\b\s*(?:\([^()]*\)\s*)?|override\b\s*|final\b\s*|&&?\s*"
    r"|__attribute__\s*\(\([^;{}]*?\)\)\s*|->[^;{}=]*)*([;{])"
)
_USING_NAMESPACE = re.compile(r"\busing\s+namespace\s+([\w:]+)\s*;")
_USING = re.compile(r"\busing\s+(?!namespace\b)(?:typename\s+)?((?:\w+\s*)?(?:::\s*\w+\s*)+);")
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*(?!namespace\b)([^;{}]+);")
_TYPEDEF = re.compile(r"\btypedef\s+([^;{}()]+?)\b(\w+)\s*;")
_NAMESPACE_ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*([\w:]+)\s*;")


class CppFunction(Located, Struct, frozen=True):
    """A declaration or definition. `path` has the named namespaces and classes, and the function's name.

    `template` are the parameters of a template, with the names of each in `template_names`, and `instance` the arguments of
    an explicit instantiation; both have their brackets.
    """

    path: tuple[str, ...]
    signature: CppSignature
    text: CppText
    span: Span
    is_definition: bool = False
    # Why other files cannot call it: "static", "unnamed" (namespace), or "" if they can.
    local: str = ""
    is_member: bool = False
    template: str = ""
    template_names: tuple[str, ...] = ()
    instance: str = ""

    _places = ("text", "span")

    @property
    def in_header(self) -> bool:
        return self.text.source.path.endswith(HEADERS)

    @property
    def full_name(self) -> str:
        return "::".join(self.path)


class Functions:
    """Finds functions by name, on demand."""

    def __init__(self, texts: Sequence[CppText], grammar: Grammar) -> None:
        self._texts = texts
        self._grammar = grammar
        self._found: dict[str, tuple[CppFunction, ...]] = {}
        self._names: dict[CppText, Names] = {}
        self._includes = Includes(texts)

    def find(self, name: FunctionName, text: CppText, offset: int) -> tuple[CppFunction, ...]:
        """Return all declarations of the functions that `name` refers to at `offset` of `text`.

        These are in the nearest namespace that has the name. Declarations in the file or its headers have priority.
        Functions that only another file can call are left out, and those that a qualified name does not find: C++ looks
        into an unnamed namespace only if the one around it lacks the name.
        """
        candidates = [
            f for f in self.named(name.base) if f.text is text or not f.local or f.in_header
        ]
        reached = self._includes.reached(text)
        for visible in ([f for f in candidates if f.text in reached], candidates):
            for path in self._paths(name, text, offset):
                functions = tuple(f for f in visible if f.path == path)
                if name.qualifiers:
                    functions = tuple(f for f in functions if f.local != "unnamed") or functions
                if functions:
                    # Explicit instantiations are in the file that defines the template.
                    return (*functions, *(f for f in candidates if f.instance and f.path == path))
        return ()

    def reached(self, texts: Iterable[CppText]) -> frozenset[CppText]:
        """Return some files and all that they include, directly or indirectly."""
        return frozenset().union(*map(self._includes.reached, texts))

    def names_of(self, text: CppText) -> Names:
        """Return the `using` declarations of a file, and the aliases of types in all headers."""
        if text not in self._names:
            self._names[text] = _read_names(text, self._grammar, self._header_types)
        return self._names[text]

    @cached_property
    def _header_types(self) -> Mapping[str, CppType]:
        headers = [text for text in self._texts if text.source.path.endswith(HEADERS)]
        read = (_read_names(text, self._grammar, {}) for text in headers)
        return dict(chain.from_iterable(names.types.items() for names in read))

    # Where a name may be

    def _paths(self, name: FunctionName, text: CppText, offset: int) -> Iterator[tuple[str, ...]]:
        """Yield the full names that `name` may stand for, in the order of C++'s name lookup."""
        names = self.names_of(text)
        written = tuple(_without_arguments(part) for part in name.qualifiers)
        written = names.namespaces.get(written[0], written[:1]) + written[1:] if written else ()
        last = (*written, name.base)
        around = () if name.is_absolute else _namespaces(text.scope(offset))
        for count in range(len(around), -1, -1):
            yield (*around[:count], *last)
        if name.is_absolute:
            return
        imported = None if name.qualifiers else names.imported.get(name.base)
        opened = [(*one.split("::"), *last) for one in names.opened]
        for path in (*([imported] if imported else []), *opened):
            for count in range(len(around), -1, -1):
                yield (*around[:count], *path)

    # Declarations

    def named(self, base: str) -> tuple[CppFunction, ...]:
        """Return the declarations and definitions of all functions of a name, in any namespace or class."""
        if base not in self._found:
            places = (place for text in self._texts for place in _places(text, base))
            functions = []
            for _, (text, start, opening) in zip(range(_MOST_PLACES), places):
                function = self._declared(text, base, start, opening)
                functions += [] if function is None else [function]
            self._found[base] = tuple(functions)
        return self._found[base]

    def _declared(self, text: CppText, base: str, start: int, opening: int) -> CppFunction | None:
        """Return the function that is declared at `start`; None if it is not a declaration, such as a call."""
        scope = text.scope(start)
        around = () if scope is None else scope.chain()
        closing = text.find_closing(opening)
        if closing is None or any(one.kind == "other" for one in around) or text.is_dead(start):
            return None
        tail = _TAIL.match(text.masked, closing + 1)
        if tail is None or text.branches_between(opening, closing):
            return None
        source = excerpt(text, _head_start(text, start), tail.start(1))
        root = self._grammar.parse_declaration(source)
        span = text.span(start, start + len(base))
        found = None if root is None else _declaration(root, base, text, span)
        if found is None:
            return None
        is_member = any(one.kind == "class" for one in around)
        is_unnamed = any(one.kind == "namespace" and not one.name for one in around)
        return replace(
            found,
            path=(*_namespaces(scope), *found.path),
            is_definition=tail[1] == "{",
            local="unnamed" if is_unnamed else "" if is_member else found.local,
            is_member=is_member,
        )


def _declaration(node: Node, base: str, text: CppText, span: Span) -> CppFunction | None:
    """Return the function named `base` in a parsed declaration, without what is around it; None if it is another."""
    template: Node | None = None
    for _ in range(_MAX_NESTING):
        if node.has_error:
            return None
        if node.type in ("declaration", "template_instantiation"):
            return _declared_function(node, base, template, text, span)
        if node.type == "template_declaration":
            template = node.field("parameters")
        elif node.type not in ("translation_unit", "linkage_specification"):
            return None
        inner = [child for child in node.children if child.type in _INNER]
        if not inner:
            return None
        node = inner[0]
    return None


_INNER = frozenset(
    {"declaration", "template_instantiation", "template_declaration", "linkage_specification"}
)
_MAX_NESTING = 6


def _declared_function(
    node: Node, base: str, template: Node | None, text: CppText, span: Span
) -> CppFunction | None:
    function = find_function(node)
    name = None if function is None else function.field("declarator")
    signature = None if function is None else _understood(_read_signature, node, function)
    if name is None or signature is None:
        return None
    found = function_name(name)
    if found is None or found.base != base:
        return None
    storage = {c.code for c in node.children if c.type == "storage_class_specifier"}
    is_instance = node.type == "template_instantiation"
    return CppFunction(
        (*map(_without_arguments, found.qualifiers), base),
        signature,
        text,
        span,
        local="static" if "static" in storage else "",
        template="" if template is None else template.code,
        template_names=() if template is None else tuple(map(_template_name, template.named)),
        instance="".join(found.template.split()) if is_instance else "",
    )


def _template_name(parameter: Node) -> str:
    """Return the `T` of `typename T = int`, and the `N` of `int N`; empty for a parameter without a name."""
    name = parameter.field("name") or next(reversed(parameter.named), None)
    is_type = "type_parameter" in parameter.type
    return (name.code if name is not None else "") if is_type else _name_of(parameter)


def function_name(node: Node) -> FunctionName | None:
    """Return the name of a function, such as `a::b<int>::f<float>`; None for other expressions."""
    qualifiers, template = list[str](), ""
    while node.type == "qualified_identifier":
        scope, inner = node.field("scope"), node.field("name")
        if inner is None:
            return None
        qualifiers.append("" if scope is None else scope.code)
        node = inner
    if node.type == "dependent_name" and node.named:
        node = node.named[-1]
    if node.type == "template_function":
        name, arguments = node.field("name"), node.field("arguments")
        if name is None or arguments is None:
            return None
        node, template = name, arguments.code
    # tree-sitter inserts an empty name where it expects one, as in `a::`.
    if node.type not in _NAMED or not node.code:
        return None
    is_absolute = qualifiers[:1] == [""]
    return FunctionName(tuple(qualifiers[is_absolute:]), node.code, template, is_absolute)


# After the name of a function, and before it if it is a part of another name.
_OPENING = re.compile(r"\s*(?:<[^;{}()]*>\s*)?\(")
_IN_NAME = re.compile(r"[\w.]")


def _places(text: CppText, base: str) -> Iterator[tuple[CppText, int, int]]:
    """Yield each occurrence of a name before a bracket: the file, and the offsets of the name and the bracket."""
    start = text.masked.find(base)
    while start >= 0:
        opening = _OPENING.match(text.masked, start + len(base))
        if opening is not None and not _IN_NAME.match(text.masked, start - 1, start):
            yield text, start, opening.end() - 1
        start = text.masked.find(base, start + len(base))


def _head_start(text: CppText, start: int) -> int:
    """Return the start of the declaration whose name is at `start`."""
    first = max(0, start - _HEAD)
    ends = [boundary.end() for boundary in _BOUNDARY.finditer(text.masked, first, start)]
    # The text before an `#else` belongs to another branch.
    ends += [branch.start for branch in text.branch_chain(start) if branch.index]
    return max(first, *ends) if ends else first


def _namespaces(scope: Scope | None) -> tuple[str, ...]:
    """Return the names of the namespaces and classes around a scope and of itself, without unnamed ones."""
    chain = () if scope is None else scope.chain()
    return tuple(part for one in chain for part in one.name.split("::") if part)


def _without_arguments(part: str) -> str:
    """Return a part of a path without its template arguments."""
    return part.partition("<")[0].strip()


def _read_names(text: CppText, grammar: Grammar, others: Mapping[str, CppType]) -> Names:
    types = dict(others)
    imported: dict[str, tuple[str, ...]] = {}
    for using in _outside_of_functions(text, _USING):
        path = _parts(using[1])
        types[path[-1]] = CppType("::".join(path))
        imported[path[-1]] = path
    declarations = (*_outside_of_functions(text, _ALIAS), *_outside_of_functions(text, _TYPEDEF))
    for match in declarations[:_MOST_PLACES]:
        root = grammar.parse_declaration(excerpt(text, match.start(), match.end() - 1))
        alias = None if root is None else _alias(root)
        if alias is not None:
            scope = text.scope(match.start())
            types.update(dict.fromkeys(_names_of_alias(scope, alias[0]), alias[1]))
    opened = [
        "::".join(_parts(using[1])) for using in _outside_of_functions(text, _USING_NAMESPACE)
    ]
    namespaces = {
        alias[1]: _parts(alias[2]) for alias in _outside_of_functions(text, _NAMESPACE_ALIAS)
    }
    return Names(types, tuple(dict.fromkeys(opened)), namespaces, imported)


def _outside_of_functions(text: CppText, pattern: re.Pattern[str]) -> tuple[re.Match[str], ...]:
    """Return the matches that are in namespaces or classes, but not in functions."""

    def is_outside(offset: int) -> bool:
        scope = text.scope(offset)
        return scope is None or all(one.kind != "other" for one in scope.chain())

    return tuple(match for match in pattern.finditer(text.masked) if is_outside(match.start()))


def _names_of_alias(scope: Scope | None, name: str) -> Iterator[str]:
    """Yield `Id`, `ns::Id` and so on up to the full name. A member of a class always has the name of the class."""
    path = (*_namespaces(scope), name)
    shortest = 2 if scope is not None and scope.kind == "class" else 1
    for count in range(shortest, len(path) + 1):
        yield "::".join(path[-count:])


def _parts(path: str) -> tuple[str, ...]:
    return tuple("".join(path.split()).removeprefix("::").split("::"))


def _alias(root: Node) -> tuple[str, CppType] | None:
    """Return the name and type of `using Name = Type` or `typedef Type Name`."""
    for node in root.children:
        is_using = node.type == "alias_declaration"
        if node.has_error or not (is_using or node.type == "type_definition"):
            continue
        name = node.field("name" if is_using else "declarator")
        typed = node.field("type") if is_using else node
        type_ = None if typed is None else _understood(_type_of, typed)
        if name is not None and name.type == "type_identifier" and type_ is not None:
            return name.code, type_
    return None
