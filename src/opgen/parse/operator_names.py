"""Find the operators that lists, graphs of models, printed registrations and traces name.

There are no errors: everything that is not the name of an operator is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from opgen.diagnostics import Source, Span
from opgen.model.selector import Mention

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
    graph = [(_full_name(*m.groups()), 1, m.span()) for m in _IN_A_GRAPH.finditer(source.text)]
    operators: dict[str, ListedOperator] = {}
    for name, calls, place in graph or _lines(source.text):
        first = operators.get(name, ListedOperator(name, 0, Span(source, *place)))
        operators[name] = ListedOperator(name, first.calls + calls, first.span)
    return tuple(operators.values())


def _lines(text: str) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """Yield the full name of the operator in each line, the number of calls, and the place of the name."""
    position = 0
    for line in text.splitlines(keepends=True):
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
        match = _LINE.match(words, len(words) - len(words.lstrip()))
        if match is not None:
            name, calls = match.groups()
            dotted = _DOTTED.fullmatch(name)
            if "::" not in name:
                name = f"aten::{name}" if dotted is None else _full_name(*dotted.groups())
            place = position + match.start(1), position + match.end(1)
            yield name, 1 if calls is None else int(calls), place
        position += len(line)


def _full_name(namespace: str, name: str, overload: str) -> str:
    return f"{namespace}::{name}" + ("" if overload == "default" else f".{overload}")


_WORD = r"[A-Za-z_][A-Za-z0-9_]*"

# `aten::add.Tensor`, as dispatchers, profilers and `opgen dump` print it.
_QUALIFIED = re.compile(rf"(?<![\w:])({_WORD})::({_WORD})(?:\.({_WORD}))?(?![\w:])")
# `torch.ops.aten.add.Tensor`, as in graphs of torch.export and torch.fx.
_ATTRIBUTE = re.compile(rf"\bops\.({_WORD})\.({_WORD})(?:\.({_WORD}))?")
# Blocks of registrations in C++: `TORCH_LIBRARY_IMPL(aten, XLA, m) {`, and opgen's own.
_BLOCK = re.compile(rf"\b(?:TORCH|OPGEN)_LIBRARY\w*\(\s*({_WORD})\s*,")
# `m.impl("add.Tensor", ...)` and `m.def("add.Tensor(Tensor self, ...`. The name may have a namespace.
_ROW = re.compile(
    rf"\.\s*(?:impl|def)\s*\(\s*(?:TORCH_SELECTIVE_\w+\s*\(\s*)?"
    rf'"((?:{_WORD}::)?{_WORD}(?:\.{_WORD})?)\s*[("]'
)
# A comment that is not closed extends to the end of the text. If it did not match, the search for its end would be
# repeated for each of thousands of them.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"?", re.DOTALL)


def parse_registrations(source: Source) -> tuple[Mention, ...]:
    """Return the operators that a backend registers, each once.

    `source` is C++, or a list that a dispatcher or `opgen dump --stage registrations` prints. Each name is one
    overload: registrations always say which.
    """
    if _BLOCK.search(source.text) is None:
        return _first_of_each(_mentions(source, _QUALIFIED, any_overload=False))
    return _first_of_each(_rows(source))


def parse_trace(source: Source) -> tuple[Mention, ...]:
    """Return the operators that a program calls, each once.

    `source` is a graph, a profile (text or JSON), or one name per line. Profilers do not print overloads: a name
    without one may stand for any.
    """
    return _first_of_each((*_mentions(source, _QUALIFIED), *_mentions(source, _ATTRIBUTE)))


def _mentions(
    source: Source, pattern: re.Pattern[str], *, any_overload: bool = True
) -> Iterator[Mention]:
    """Yield the operators that match. In a graph, `default` is the overload without a name."""
    for match in pattern.finditer(source.text):
        namespace, name, overload = match.groups()
        full_name = f"{namespace}::{name}"
        if overload is not None and (overload != "default" or pattern is _QUALIFIED):
            full_name += f".{overload}"
        yield Mention(full_name, any_overload and overload is None, Span(source, *match.span()))


def _rows(source: Source) -> Iterator[Mention]:
    """Yield the operator of each row. A name without a namespace is in that of the block before it."""
    # A comment becomes spaces, so that offsets stay the same. String literals are kept.
    text = _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else " " * len(m[0]), source.text)
    blocks = [(match.start(), match[1]) for match in _BLOCK.finditer(text)]
    block = -1
    for match in _ROW.finditer(text):
        while block + 1 < len(blocks) and blocks[block + 1][0] < match.start():
            block += 1
        if "::" in match[1]:
            yield Mention(match[1], False, Span(source, *match.span(1)))
        elif block >= 0 and blocks[block][1] != "_":
            yield Mention(f"{blocks[block][1]}::{match[1]}", False, Span(source, *match.span(1)))


def _first_of_each(mentions: Iterator[Mention] | tuple[Mention, ...]) -> tuple[Mention, ...]:
    first: dict[tuple[str, bool], Mention] = {}
    for mention in mentions:
        first.setdefault((mention.name, mention.any_overload), mention)
    return tuple(first.values())
