"""Parse a list of operators: one name per line, or the graph that PyTorch prints for a model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from opgen.diagnostics import Source, Span

# The name of an operator in a printed graph, or in code generated from one: the overload may be `default`.
_IN_A_GRAPH = re.compile(r"torch\.ops\.(\w+)\.(\w+)\.(\w+)")
_DOTTED = re.compile(r"(\w+)\.(\w+)\.(\w+)")
_LINE = re.compile(r"(\S+)(?:\s+(\d{1,18}))?\s*")


class ListedOperator(Struct, frozen=True):
    """An operator by its full name, with the number of calls and the first place that names it.

    A `name` without an overload may stand for all overloads.
    """

    name: str
    calls: int
    span: Span


def parse_operator_list(source: Source) -> tuple[ListedOperator, ...]:
    """Return the operators of `source`, each once, in order of first appearance.

    A text that contains `torch.ops.` is a graph, and every operator named so counts. In any other text, each line names
    one (`aten::add.Tensor`, `add.Tensor` or `aten.add.Tensor`), optionally followed by the number of calls; `#` begins
    a comment.
    """
    operators: dict[str, ListedOperator] = {}
    is_graph = _IN_A_GRAPH.search(source.text) is not None
    for operator in _read_graph(source) if is_graph else _read_lines(source):
        first = operators.get(operator.name, operator)
        calls = operator.calls + (0 if first is operator else first.calls)
        operators[operator.name] = ListedOperator(operator.name, calls, first.span)
    return tuple(operators.values())


def _read_graph(source: Source) -> Iterator[ListedOperator]:
    for match in _IN_A_GRAPH.finditer(source.text):
        yield ListedOperator(_full_name(*match.groups()), 1, Span(source, *match.span()))


def _read_lines(source: Source) -> Iterator[ListedOperator]:
    position = 0
    for line in source.text.splitlines(keepends=True):
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
        match = _LINE.match(words, len(words) - len(words.lstrip()))
        if match is not None:
            name, calls = match.groups()
            span = Span(source, position + match.start(1), position + match.end(1))
            yield ListedOperator(_name(name), 1 if calls is None else int(calls), span)
        position += len(line)


def _name(text: str) -> str:
    """Return the full name, `aten::add.Tensor`, of an operator in any of the three spellings."""
    if "::" in text:
        return text
    dotted = _DOTTED.fullmatch(text)
    return f"aten::{text}" if dotted is None else _full_name(*dotted.groups())


def _full_name(namespace: str, name: str, overload: str) -> str:
    return f"{namespace}::{name}" + ("" if overload == "default" else f".{overload}")
