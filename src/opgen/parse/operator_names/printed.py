"""Find the operators that printed registrations and traces name.

There are no errors: everything that is not the name of an operator is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.diagnostics import Source, Span
from opgen.model.selector import Mention

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
        return _first_of_each(_qualified(source, any_overload=False))
    return _first_of_each(_rows(source))


def parse_trace(source: Source) -> tuple[Mention, ...]:
    """Return the operators that a program calls, each once.

    `source` is a graph, a profile (text or JSON), or one name per line. Profilers do not print overloads: a name
    without one may stand for any.
    """
    return _first_of_each((*_qualified(source, any_overload=True), *_attributes(source)))


def _qualified(source: Source, *, any_overload: bool) -> Iterator[Mention]:
    for match in _QUALIFIED.finditer(source.text):
        namespace, name, overload = match.groups()
        yield _mention(source, match, namespace, name, overload, any_overload)


def _attributes(source: Source) -> Iterator[Mention]:
    """Yield the operators of a graph. `default` is the overload without a name."""
    for match in _ATTRIBUTE.finditer(source.text):
        namespace, name, overload = match.groups()
        if overload == "default":
            yield _mention(source, match, namespace, name, None, False)
        else:
            yield _mention(source, match, namespace, name, overload, True)


def _mention(
    source: Source,
    match: re.Match[str],
    namespace: str,
    name: str,
    overload: str | None,
    any_overload: bool,
) -> Mention:
    full_name = f"{namespace}::{name}" if overload is None else f"{namespace}::{name}.{overload}"
    return Mention(full_name, any_overload and overload is None, Span(source, *match.span()))


def _rows(source: Source) -> Iterator[Mention]:
    """Yield the operator of each row. A name without a namespace is in that of the block before it."""
    text = _COMMENT.sub(_blank, source.text)
    blocks = [(match.start(), match[1]) for match in _BLOCK.finditer(text)]
    block = -1
    for match in _ROW.finditer(text):
        while block + 1 < len(blocks) and blocks[block + 1][0] < match.start():
            block += 1
        if "::" in match[1]:
            yield Mention(match[1], False, Span(source, *match.span(1)))
        elif block >= 0 and blocks[block][1] != "_":
            name = f"{blocks[block][1]}::{match[1]}"
            yield Mention(name, False, Span(source, *match.span(1)))


def _blank(match: re.Match[str]) -> str:
    """Replace a comment by spaces, so that offsets stay the same. String literals are kept."""
    return match[0] if match[0].startswith('"') else " " * len(match[0])


def _first_of_each(mentions: Iterator[Mention] | tuple[Mention, ...]) -> tuple[Mention, ...]:
    first: dict[tuple[str, bool], Mention] = {}
    for mention in mentions:
        first.setdefault((mention.name, mention.any_overload), mention)
    return tuple(first.values())
