"""Read calls on a library's variable, `m.def(...).impl(...)`, once for each branch of an `#if` inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from opgen.diagnostics import Span
from opgen.importing.cpp.grammar import Grammar, Node, Piece
from opgen.importing.cpp.macros import split_ranges
from opgen.importing.cpp.text import Choice, CppText, Excerpt, excerpt

# The most combinations of branches of `#if` inside one chain of calls.
_MOST_CHOICES = 16
_MOST_LINKS = 2000
_METHOD = re.compile(r"\s*(?:\.|->)\s*(?:template\s+)?(\w+)\s*(<[^;{}()]*>)?\s*\(")


class Argument(Struct, frozen=True):
    """An argument of a call. `node` is None if it cannot be parsed."""

    excerpt: Excerpt
    start: int
    end: int
    piece: Piece | None
    node: Node | None

    @property
    def code(self) -> str:
        return self.excerpt.code_between(self.start, self.end)

    @property
    def span(self) -> Span:
        return self.excerpt.text.span(self.start, self.end)


class Call(Struct, frozen=True):
    """`method<template>(arguments)` on a library. `span` begins at the variable, or at the dot of a later call."""

    method: str
    template: str
    arguments: tuple[Argument, ...]
    span: Span
    conditions: tuple[str, ...]


class _Link(Struct, frozen=True):
    """A call in a chain: the method's name, and the offsets of its brackets."""

    method: str
    template: str
    start: int
    opening: int
    closing: int


def read_chain(
    text: CppText, place: int, name_end: int, end: int, grammar: Grammar
) -> tuple[tuple[Call, ...], int]:
    """Read the calls after the variable at `place`, whose name ends at `name_end`. Return them, and where they end.

    Each call is returned once for each combination of branches of `#if` inside the chain. None are returned if there
    are too many combinations, or the chain is too long.
    """
    calls: list[Call] = []
    last, complete_choices = name_end, 0
    pending: list[dict[int, int]] = [{}]
    while pending and complete_choices < _MOST_CHOICES:
        choice = pending.pop()
        links = list(_links(text, name_end, end, choice))
        if not links:
            continue
        last = max(last, links[-1].closing + 1)
        refined = _refine(text, place, last, choice)
        pending += reversed(refined)
        if len(pending) > _MOST_CHOICES or len(links) > _MOST_LINKS:
            return (), last
        if not refined:
            complete_choices += 1
            calls += _calls(text, place, links, choice, grammar)
    return (() if pending else tuple(calls)), last


def _links(text: CppText, position: int, end: int, choice: Choice) -> Iterator[_Link]:
    while (match := _METHOD.match(text.masked, position, end)) is not None:
        opening = match.end() - 1
        closing = text.find_closing(opening, choice)
        if closing is None or closing >= end:
            return
        yield _Link(match[1], (match[2] or "")[1:-1].strip(), position, opening, closing)
        position = closing + 1


def _refine(text: CppText, start: int, end: int, choice: dict[int, int]) -> list[dict[int, int]]:
    """Return `choice` with each branch of the first `#if` in the range that it does not choose for; [] if it is
    complete.
    """
    for branch in text.branches_between(start, end):
        key = id(branch.group)
        if branch.index == 0 and key not in choice:
            count = len(branch.group.branches) + (1 if branch.group.otherwise else 0)
            return [{**choice, key: index} for index in range(count)]
    return []


def read_brackets(text: CppText, place: int, opening: int, closing: int, grammar: Grammar) -> Call:
    """Read the arguments between two brackets as a call without a name. Each `#if` inside has its first branch."""
    listed = excerpt(text, opening, closing + 1)
    arguments = tuple(_arguments(listed, grammar))
    return Call("", "", arguments, text.span(place, closing + 1), listed.conditions)


def _calls(
    text: CppText, place: int, links: list[_Link], choice: Choice, grammar: Grammar
) -> Iterator[Call]:
    for index, link in enumerate(links):
        listed = excerpt(text, link.opening, link.closing + 1, choice)
        span = text.span(place if index == 0 else link.start, link.closing + 1)
        arguments = tuple(_arguments(listed, grammar))
        yield Call(link.method, link.template, arguments, span, listed.conditions)


def _arguments(listed: Excerpt, grammar: Grammar) -> Iterator[Argument]:
    """Yield the arguments in brackets, split by the grammar, or at commas if they cannot be parsed."""
    piece = grammar.parse_call(listed)
    nodes = None if piece is None else _argument_nodes(piece.root)
    if piece is not None and nodes is not None:
        for node in nodes:
            yield Argument(listed, piece.start(node), piece.end(node), piece, node)
        return
    for first, last in split_ranges(listed.masked[1:-1]):
        code, masked = listed.code[1 + first : 1 + last], listed.masked[1 + first : 1 + last]
        single = Excerpt(listed.text, listed.start + 1 + first, code, masked)
        yield parse_argument(single, grammar)


def parse_argument(single: Excerpt, grammar: Grammar) -> Argument:
    """Parse an excerpt that is a single argument."""
    piece = grammar.parse_call(single, bare=True)
    nodes = None if piece is None else _argument_nodes(piece.root)
    if piece is None or nodes is None or len(nodes) != 1:
        code = single.code
        start = single.start + len(code) - len(code.lstrip())
        return Argument(single, start, single.start + len(code.rstrip()), None, None)
    return Argument(single, piece.start(nodes[0]), piece.end(nodes[0]), piece, nodes[0])


def named_children(node: Node) -> list[Node]:
    return [child for child in node.children if child.is_named and child.type != "comment"]


def callee(piece: Piece, node: Node) -> tuple[str, Node | None, list[Node]]:
    """Return the last part of a called name, the object that it is a method of, if any, and the arguments."""
    function, listed = (node.child_by_field_name(name) for name in ("function", "arguments"))
    arguments = [] if listed is None else named_children(listed)
    owner = None
    for _ in range(_MAX_DEPTH):
        if function is None:
            break
        if function.type == "field_expression":
            owner, function = (function.child_by_field_name(name) for name in ("argument", "field"))
        elif function.type in _WITH_NAME:
            function = function.child_by_field_name("name")
        else:
            return piece.code(function), owner, arguments
    return "", owner, arguments


_WITH_NAME = frozenset({"qualified_identifier", "template_function", "template_method"})
_MAX_DEPTH = 30


def _argument_nodes(root: Node) -> list[Node] | None:
    """Return the arguments of the parsed call; None if there is an error among them."""
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
