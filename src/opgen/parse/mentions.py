"""Registrations and traces, as programs print and write them, into the operators that they name.

None of these texts is refused: whatever in them is not an operator's name is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.diagnostics import Source, Span
from opgen.model.mention import Mention

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"

# `aten::add.Tensor`: what dispatchers, profilers and `opgen dump` print.
_QUALIFIED = re.compile(rf"(?<![\w:])({_WORD})::({_WORD})(?:\.({_WORD}))?(?![\w:])")
# `torch.ops.aten.add.Tensor`: the graphs of torch.export and torch.fx.
_ATTRIBUTE = re.compile(rf"\bops\.({_WORD})\.({_WORD})(?:\.({_WORD}))?")
# The blocks of a C++ source: `TORCH_LIBRARY_IMPL(aten, XLA, m) {`, and opgen's own.
_BLOCK = re.compile(rf"\b(?:TORCH|OPGEN)_LIBRARY\w*\(\s*({_WORD})\s*,")
# `m.impl("add.Tensor", ...)`, `m.def("add.Tensor(Tensor self, ...", which may have a namespace, too.
_ROW = re.compile(
    rf"\.\s*(?:impl|def)\s*\(\s*(?:TORCH_SELECTIVE_\w+\s*\(\s*)?"
    rf'"((?:{_WORD}::)?{_WORD}(?:\.{_WORD})?)\s*[("]'
)
# One without an end reaches to the end: were it none, each of thousands would be looked through.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"?", re.DOTALL)


def parse_registrations(source: Source) -> tuple[Mention, ...]:
    """The operators that a backend registers: a C++ source, or a list that a dispatcher or
    `opgen dump --stage registrations` prints. Each is one overload: a registration says which."""
    if _BLOCK.search(source.text) is None:
        return _first_of_each(_qualified(source, any_overload=False))
    return _first_of_each(_rows(source))


def parse_trace(source: Source) -> tuple[Mention, ...]:
    """The operators that a program calls: a graph, a profile, as text or as JSON, or one name a line.

    Profilers tell no overloads: a name without one may be any.
    """
    return _first_of_each((*_qualified(source, any_overload=True), *_attributes(source)))


def _qualified(source: Source, *, any_overload: bool) -> Iterator[Mention]:
    for found in _QUALIFIED.finditer(source.text):
        namespace, name, overload = found.groups()
        yield _mention(source, found, namespace, name, overload, any_overload)


def _attributes(source: Source) -> Iterator[Mention]:
    """Graphs name each overload: the one without a name is `default`."""
    for found in _ATTRIBUTE.finditer(source.text):
        namespace, name, overload = found.groups()
        if overload == "default":
            yield _mention(source, found, namespace, name, None, False)
        else:
            yield _mention(source, found, namespace, name, overload, True)


def _mention(
    source: Source,
    found: re.Match[str],
    namespace: str,
    name: str,
    overload: str | None,
    any_overload: bool,
) -> Mention:
    text = f"{namespace}::{name}" if overload is None else f"{namespace}::{name}.{overload}"
    return Mention(text, any_overload and overload is None, Span(source, *found.span()))


def _rows(source: Source) -> Iterator[Mention]:
    """Each row in the namespace of the block before it, if it has none of its own."""
    text = _COMMENT.sub(_blank, source.text)
    blocks = [(found.start(), found[1]) for found in _BLOCK.finditer(text)]
    block = -1
    for found in _ROW.finditer(text):
        while block + 1 < len(blocks) and blocks[block + 1][0] < found.start():
            block += 1
        if "::" in found[1]:
            yield Mention(found[1], False, Span(source, *found.span(1)))
        elif block >= 0 and blocks[block][1] != "_":
            name = f"{blocks[block][1]}::{found[1]}"
            yield Mention(name, False, Span(source, *found.span(1)))


def _blank(found: re.Match[str]) -> str:
    """A comment as blanks, so that all else stays where it is; a text as it is."""
    return found[0] if found[0].startswith('"') else " " * len(found[0])


def _first_of_each(mentions: Iterator[Mention] | tuple[Mention, ...]) -> tuple[Mention, ...]:
    first: dict[tuple[str, bool], Mention] = {}
    for mention in mentions:
        first.setdefault((mention.name, mention.any_overload), mention)
    return tuple(first.values())
