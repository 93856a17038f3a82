"""Calls on a library's variable, `m.def(...).impl(...)`, and their arguments, each in every branch of an `#if` in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span
from opgen.importing.cpp_grammar import Grammar, Node, Piece
from opgen.importing.cpp_macros import split_ranges
from opgen.importing.cpp_text import Choice, CppText, Excerpt, excerpt

# So many ways through the branches of `#if` inside of one call are read.
_MOST_WAYS = 16
_LONGEST_CHAIN = 2000
_METHOD = re.compile(r"\s*(?:\.|->)\s*(?:template\s+)?(\w+)\s*(<[^;{}()]*>)?\s*\(")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call. `node` is None if the grammar does not know it."""

    excerpt: Excerpt = field(repr=False)
    start: int
    end: int
    piece: Piece | None = field(repr=False)
    node: Node | None = field(repr=False)

    @property
    def code(self) -> str:
        return self.excerpt.code_between(self.start, self.end)

    @property
    def span(self) -> Span:
        return self.excerpt.text.span(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Call:
    """`method<template>(arguments)` on a library; `span` is from its variable, or the dot, to its last bracket."""

    method: str
    template: str
    arguments: tuple[Argument, ...]
    span: Span
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Link:
    """A method's name in a chain of calls, and where its brackets are."""

    method: str
    template: str
    start: int
    opening: int
    closing: int


def read_chain(
    text: CppText, place: int, name_end: int, end: int, grammar: Grammar
) -> tuple[tuple[Call, ...], int]:
    """The calls that follow the variable at `place`, whose name ends at `name_end`, and where they end.

    Each is there once for every way through the branches of `#if` that stand in its brackets. There are none if those
    ways are too many, or the chain is too long.
    """
    calls: list[Call] = []
    last, ways = name_end, 0
    left: list[dict[int, int]] = [{}]
    while left and ways < _MOST_WAYS:
        choice = left.pop()
        links = list(_links(text, name_end, end, choice))
        if not links:
            continue
        last = max(last, links[-1].closing + 1)
        more = _ways_on(text, place, last, choice)
        left += reversed(more)
        if len(left) > _MOST_WAYS or len(links) > _LONGEST_CHAIN:
            return (), last
        if not more:
            ways += 1
            calls += _calls(text, place, links, choice, grammar)
    return (() if left else tuple(calls)), last


def _links(text: CppText, position: int, end: int, choice: Choice) -> Iterator[_Link]:
    while (found := _METHOD.match(text.masked, position, end)) is not None:
        opening = found.end() - 1
        closing = text.find_closing(opening, choice)
        if closing is None or closing >= end:
            return
        yield _Link(found[1], (found[2] or "")[1:-1].strip(), position, opening, closing)
        position = closing + 1


def _ways_on(text: CppText, start: int, end: int, choice: dict[int, int]) -> list[dict[int, int]]:
    """One choice for each branch of the first `#if` between `start` and `end` of which none is chosen yet."""
    for branch in text.branches_between(start, end):
        key = id(branch.group)
        if branch.index == 0 and key not in choice:
            ways = len(branch.group.branches) + (1 if branch.group.otherwise else 0)
            return [{**choice, key: index} for index in range(ways)]
    return []


def read_brackets(text: CppText, place: int, opening: int, closing: int, grammar: Grammar) -> Call:
    """A call without a name: what stands between two brackets, of each `#if` in them the first branch."""
    here = excerpt(text, opening, closing + 1)
    arguments = tuple(_arguments(here, grammar))
    return Call("", "", arguments, text.span(place, closing + 1), here.conditions)


def _calls(
    text: CppText, place: int, links: list[_Link], choice: Choice, grammar: Grammar
) -> Iterator[Call]:
    for index, link in enumerate(links):
        here = excerpt(text, link.opening, link.closing + 1, choice)
        span = text.span(place if index == 0 else link.start, link.closing + 1)
        arguments = tuple(_arguments(here, grammar))
        yield Call(link.method, link.template, arguments, span, here.conditions)


def _arguments(here: Excerpt, grammar: Grammar) -> Iterator[Argument]:
    """What stands between the brackets, by the grammar, or by its commas where the grammar does not know it."""
    piece = grammar.parse_call(here)
    nodes = None if piece is None else _argument_nodes(piece.root)
    if piece is not None and nodes is not None:
        for node in nodes:
            yield Argument(here, piece.start(node), piece.end(node), piece, node)
        return
    for first, last in split_ranges(here.masked[1:-1]):
        code, masked = here.code[1 + first : 1 + last], here.masked[1 + first : 1 + last]
        yield argument_of(Excerpt(here.text, here.start + 1 + first, code, masked), grammar)


def argument_of(alone: Excerpt, grammar: Grammar) -> Argument:
    """An excerpt as one argument."""
    piece = grammar.parse_call(alone, bare=True)
    nodes = None if piece is None else _argument_nodes(piece.root)
    if piece is None or nodes is None or len(nodes) != 1:
        code = alone.code
        start = alone.start + len(code) - len(code.lstrip())
        return Argument(alone, start, alone.start + len(code.rstrip()), None, None)
    return Argument(alone, piece.start(nodes[0]), piece.end(nodes[0]), piece, nodes[0])


def named_children(node: Node) -> list[Node]:
    return [child for child in node.children if child.is_named and child.type != "comment"]


def callee(piece: Piece, node: Node) -> tuple[str, Node | None, list[Node]]:
    """Of a call: the last part of the name, what it is a method of, and the arguments."""
    function, listed = (node.child_by_field_name(name) for name in ("function", "arguments"))
    arguments = [] if listed is None else named_children(listed)
    of = None
    for _ in range(_DEEPEST):
        if function is None:
            break
        if function.type == "field_expression":
            of, function = (function.child_by_field_name(name) for name in ("argument", "field"))
        elif function.type in _WITH_NAME:
            function = function.child_by_field_name("name")
        else:
            return piece.words(function), of, arguments
    return "", of, arguments


_WITH_NAME = frozenset({"qualified_identifier", "template_function", "template_method"})
_DEEPEST = 30


def _argument_nodes(root: Node) -> list[Node] | None:
    """The arguments of the call that was parsed; None if there is something among them that is none."""
    node: Node | None = root
    while node is not None and node.type != "argument_list":
        named = [child for child in node.children if child.is_named]
        body = [child for child in named if child.type in _AROUND]
        node = body[-1] if body else None
    if node is None or any(child.is_error or child.is_missing for child in node.children):
        return None
    return named_children(node)


_AROUND = frozenset(
    {
        "function_definition",
        "compound_statement",
        "expression_statement",
        "call_expression",
        "argument_list",
    }
)
