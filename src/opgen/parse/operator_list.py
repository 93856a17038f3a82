"""The text of a list of operators into names: one a line, or the graph that PyTorch prints of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.dataclasses import dataclass
from opgen.diagnostics import Source, Span

# How a printed graph, and code made of one, name an operator: with its overload, or `default`.
_IN_A_GRAPH = re.compile(r"torch\.ops\.(\w+)\.(\w+)\.(\w+)")
_DOTTED = re.compile(r"(\w+)\.(\w+)\.(\w+)")
_LINE = re.compile(r"(\S+)(?:\s+(\d{1,18}))?\s*")


@dataclass(frozen=True, slots=True)
class ListedOperator:
    """An operator by its full name, where it is first named, and how often it is called.

    Without an overload, `name` may mean every overload.
    """

    name: str
    calls: int
    span: Span


def parse_operator_list(source: Source) -> tuple[ListedOperator, ...]:
    """The operators of `source`, each once, in order of first appearance.

    If the text says `torch.ops.` anywhere, it is a graph, and every such name is taken. Otherwise each
    line names one (`aten::add.Tensor`, `add.Tensor` or `aten.add.Tensor`), and may say after it how often
    it is called; `#` begins a comment.
    """
    found: dict[str, ListedOperator] = {}
    graph = _IN_A_GRAPH.search(source.text) is not None
    for operator in _of_graph(source) if graph else _of_lines(source):
        first = found.get(operator.name, operator)
        calls = operator.calls + (0 if first is operator else first.calls)
        found[operator.name] = ListedOperator(operator.name, calls, first.span)
    return tuple(found.values())


def _of_graph(source: Source) -> Iterator[ListedOperator]:
    for match in _IN_A_GRAPH.finditer(source.text):
        yield ListedOperator(_full_name(*match.groups()), 1, Span(source, *match.span()))


def _of_lines(source: Source) -> Iterator[ListedOperator]:
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
    """`aten::add.Tensor`, however it is written."""
    if "::" in text:
        return text
    dotted = _DOTTED.fullmatch(text)
    return f"aten::{text}" if dotted is None else _full_name(*dotted.groups())


def _full_name(namespace: str, name: str, overload: str) -> str:
    return f"{namespace}::{name}" + ("" if overload == "default" else f".{overload}")
