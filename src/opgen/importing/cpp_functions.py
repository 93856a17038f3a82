"""Find C++ functions among the sources by the names that registrations call them by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span
from opgen.importing.cpp_declarations import find_function, read_signature, read_type
from opgen.importing.cpp_grammar import Grammar, Node, Piece
from opgen.importing.cpp_includes import Includes
from opgen.importing.cpp_text import CppText, Scope, excerpt
from opgen.importing.cpp_types import Aliases, CppSignature, CppType
from opgen.importing.registrations import FunctionName

HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".cuh", ".inl", ".inc")
# So many places where a name stands with a bracket are looked at, in all sources together.
_MOST_PLACES = 2000
# So far before a name its type may begin, with a template's parameters.
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


@dataclass(frozen=True, slots=True)
class CppFunction:
    """A declaration or definition. `path` are the namespaces and classes, without unnamed ones, and the name.

    `instance` are the template arguments of an explicit instantiation, with their brackets.
    """

    path: tuple[str, ...]
    signature: CppSignature
    text: CppText = field(repr=False, compare=False)
    span: Span = field(repr=False, compare=False)
    is_definition: bool = False
    # What keeps other files from calling it: "static", "unnamed" for an unnamed namespace, or nothing.
    local: str = ""
    is_member: bool = False
    template: str = ""
    instance: str = ""

    @property
    def in_header(self) -> bool:
        return self.text.source.path.endswith(HEADERS)

    @property
    def full_name(self) -> str:
        return "::".join(self.path)


@dataclass(frozen=True, slots=True)
class Names:
    """What `using` says in one file: types, opened namespaces, other names of namespaces, names of functions."""

    aliases: Aliases
    namespaces: Mapping[str, tuple[str, ...]]
    brought: Mapping[str, tuple[str, ...]]


class Functions:
    """Functions by name, looked for when they are asked for."""

    def __init__(self, texts: Sequence[CppText], grammar: Grammar) -> None:
        self._texts = texts
        self._grammar = grammar
        self._found: dict[str, tuple[CppFunction, ...]] = {}
        self._names: dict[int, Names] = {}
        self._types: Mapping[str, CppType] | None = None
        self._includes = Includes(texts)

    def find(self, name: FunctionName, text: CppText, offset: int) -> tuple[CppFunction, ...]:
        """The functions that `name` means where it stands: all declarations of those in the nearest namespace.

        What the file or its headers declare comes first; what only another file knows is left out.
        """
        candidates = [f for f in self._of_name(name.base) if f.text is text or not _is_apart(f)]
        seen = self._includes.reached(text)
        for some in ([f for f in candidates if id(f.text) in seen], candidates):
            for path in self._paths(name, text, offset):
                found = tuple(f for f in some if f.path == path)
                if found:
                    # Instances of templates stand where the template is defined.
                    return (*found, *(f for f in candidates if f.instance and f.path == path))
        return ()

    def names_of(self, text: CppText) -> Names:
        """What `using` says in a file, and of types in all headers."""
        if id(text) not in self._names:
            is_header = text.source.path.endswith(HEADERS)
            others = {} if is_header else self._header_types()
            self._names[id(text)] = _read_names(text, self._grammar, others)
        return self._names[id(text)]

    def _header_types(self) -> Mapping[str, CppType]:
        if self._types is None:
            headers = [text for text in self._texts if text.source.path.endswith(HEADERS)]
            named = (self.names_of(text).aliases.types.items() for text in headers)
            self._types = dict(chain.from_iterable(named))
        return self._types

    # Where a name may be

    def _paths(self, name: FunctionName, text: CppText, offset: int) -> Iterator[tuple[str, ...]]:
        """The full names that are looked at one after the other, as C++ does."""
        names = self.names_of(text)
        written = tuple(_plain(part) for part in name.qualifiers)
        written = names.namespaces.get(written[0], written[:1]) + written[1:] if written else ()
        last = (*written, name.base)
        around = () if name.is_absolute else _namespaces(text.scope(offset))
        for count in range(len(around), -1, -1):
            yield (*around[:count], *last)
        if name.is_absolute:
            return
        if not name.qualifiers and name.base in names.brought:
            yield names.brought[name.base]
        for opened in names.aliases.opened:
            for count in range(len(around), -1, -1):
                yield (*around[:count], *opened.split("::"), *last)

    # Declarations

    def _of_name(self, base: str) -> tuple[CppFunction, ...]:
        if base not in self._found:
            places = (place for text in self._texts for place in _places(text, base))
            found = []
            for _, (text, start, opening) in zip(range(_MOST_PLACES), places):
                function = self._declared(text, base, start, opening)
                found += [] if function is None else [function]
            self._found[base] = tuple(found)
        return self._found[base]

    def _declared(self, text: CppText, base: str, start: int, opening: int) -> CppFunction | None:
        """The function that is declared at a place; None if something else stands there."""
        scope = text.scope(start)
        around = () if scope is None else scope.chain()
        closing = text.find_closing(opening)
        if closing is None or any(one.kind == "other" for one in around) or text.is_dead(start):
            return None
        tail = _TAIL.match(text.masked, closing + 1)
        if tail is None or text.branches_between(opening, closing):
            return None
        here = excerpt(text, _head_start(text, start), tail.start(1))
        piece = self._grammar.parse_declaration(here)
        found = None if piece is None else _declaration(piece, base)
        if found is None:
            return None
        is_member = any(one.kind == "class" for one in around)
        is_unnamed = any(one.kind == "namespace" and not one.name for one in around)
        is_static = found.is_static and not is_member
        return CppFunction(
            path=(*_namespaces(scope), *found.qualifiers, base),
            signature=found.signature,
            text=text,
            span=text.span(start, start + len(base)),
            is_definition=tail[1] == "{",
            local="unnamed" if is_unnamed else "static" if is_static else "",
            is_member=is_member,
            template=found.template,
            instance=found.instance,
        )


@dataclass(frozen=True, slots=True)
class _Declaration:
    signature: CppSignature
    qualifiers: tuple[str, ...]
    is_static: bool
    template: str
    instance: str


def _declaration(piece: Piece, base: str) -> _Declaration | None:
    """What a piece declares, if that is a function called `base`."""
    template = ""
    node = piece.root
    for _ in range(_DEEPEST):
        if node.has_error:
            return None
        if node.type in ("declaration", "template_instantiation"):
            return _declared_function(piece, node, base, template)
        if node.type == "template_declaration":
            parameters = node.child_by_field_name("parameters")
            template = "" if parameters is None else piece.words(parameters)
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
_DEEPEST = 6


def _declared_function(piece: Piece, node: Node, base: str, template: str) -> _Declaration | None:
    function = find_function(node)
    declared = None if function is None else function.child_by_field_name("declarator")
    signature = None if function is None else read_signature(piece, node, function)
    if declared is None or signature is None:
        return None
    written = "".join(piece.words(declared).split())
    found = re.fullmatch(rf"(?:::)?((?:\w+(?:<.*>)?::)*){re.escape(base)}(<.*>)?", written)
    if found is None:
        return None
    qualifiers = tuple(_plain(part) for part in found[1].split("::") if part)
    storage = {piece.words(c) for c in node.children if c.type == "storage_class_specifier"}
    is_instance = node.type == "template_instantiation"
    instance = (found[2] or "") if is_instance else ""
    return _Declaration(signature, qualifiers, "static" in storage, template, instance)


def _is_apart(function: CppFunction) -> bool:
    """Whether only its own file knows the function."""
    return bool(function.local) and not function.in_header


def _places(text: CppText, base: str) -> Iterator[tuple[CppText, int, int]]:
    """Where a name stands before a bracket: the file, the place, and that of the bracket."""
    if base not in text.masked:
        return
    for found in re.finditer(
        rf"(?<![\w.])({re.escape(base)})\s*(?:<[^;{{}}()]*>\s*)?\(", text.masked
    ):
        yield text, found.start(1), found.end() - 1


def _head_start(text: CppText, start: int) -> int:
    """Where the declaration begins that has its name at `start`."""
    first = max(0, start - _HEAD)
    ends = [found.end() for found in _BOUNDARY.finditer(text.masked, first, start)]
    # What stands before an `#else` is of another branch.
    ends += [branch.start for branch in text.branch_chain(start) if branch.index]
    return max(first, *ends) if ends else first


def _namespaces(scope: Scope | None) -> tuple[str, ...]:
    """The namespaces and classes around a scope and itself, without unnamed ones."""
    chain = () if scope is None else scope.chain()
    return tuple(part for one in chain for part in one.name.split("::") if part)


def _plain(part: str) -> str:
    """A part of a path without its template arguments."""
    return part.partition("<")[0].strip()


def _read_names(text: CppText, grammar: Grammar, others: Mapping[str, CppType]) -> Names:
    types = dict(others)
    brought: dict[str, tuple[str, ...]] = {}
    for found in _outside_of_functions(text, _USING):
        path = _parts(found[1])
        types[path[-1]] = CppType("::".join(path))
        brought[path[-1]] = path
    named = (*_outside_of_functions(text, _ALIAS), *_outside_of_functions(text, _TYPEDEF))
    for found in named[:_MOST_PLACES]:
        piece = grammar.parse_declaration(excerpt(text, found.start(), found.end() - 1))
        alias = None if piece is None else _alias(piece)
        if alias is not None:
            scope = text.scope(found.start())
            types.update(dict.fromkeys(_names_of_alias(scope, alias[0]), alias[1]))
    opened = ["::".join(_parts(one[1])) for one in _outside_of_functions(text, _USING_NAMESPACE)]
    namespaces = {
        found[1]: _parts(found[2]) for found in _outside_of_functions(text, _NAMESPACE_ALIAS)
    }
    return Names(Aliases(types, tuple(dict.fromkeys(opened))), namespaces, brought)


def _outside_of_functions(text: CppText, wanted: re.Pattern[str]) -> tuple[re.Match[str], ...]:
    """What is found in the file, its namespaces and its classes."""

    def is_outside(offset: int) -> bool:
        scope = text.scope(offset)
        return scope is None or all(one.kind != "other" for one in scope.chain())

    return tuple(found for found in wanted.finditer(text.masked) if is_outside(found.start()))


def _names_of_alias(scope: Scope | None, name: str) -> Iterator[str]:
    """The ends of its full name: `Id`, `ns::Id`; of a class only with its name, `Type::Id`, `ns::Type::Id`."""
    path = (*_namespaces(scope), name)
    shortest = 2 if scope is not None and scope.kind == "class" else 1
    for count in range(shortest, len(path) + 1):
        yield "::".join(path[-count:])


def _parts(path: str) -> tuple[str, ...]:
    return tuple("".join(path.split()).removeprefix("::").split("::"))


def _alias(piece: Piece) -> tuple[str, CppType] | None:
    """The name and the type of `using Name = Type` and `typedef Type Name`."""
    for node in piece.root.children:
        if node.has_error:
            return None
        if node.type == "alias_declaration":
            name, described = (node.child_by_field_name(field) for field in ("name", "type"))
            type_ = None if described is None else read_type(piece, described)
            return None if name is None or type_ is None else (piece.words(name), type_)
        if node.type == "type_definition":
            name = node.child_by_field_name("declarator")
            type_ = read_type(piece, node)
            if name is None or name.type != "type_identifier" or type_ is None:
                return None
            return piece.words(name), type_
    return None
