"""Read comments `# opgen: allow(W1003) reason`, which suppress warnings, from a schema file.

A comment is one by YAML's rules: a `#` inside a scalar begins none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.parse.entries.doc_comments import comment_start
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose

_MARK = "opgen: allow"
_COMMENT = re.compile(r"(?:^|(?<=[ \t\r\n]))#[^\r\n]*")
_ALLOW = re.compile(r"#+[ \t]*opgen:[ \t]*allow(?:\(([^()]*)\))?[ \t]*(.*)")
_CODE = re.compile(r"[^\s,]+")


class Allow(Struct, frozen=True):
    """One code of a comment. It suppresses warnings with this code from `start` to `end` of the file.

    `reason` is the text after the codes. `code` is empty if the comment names none.
    """

    code: str
    span: Span
    reason: str
    start: int
    end: int

    def covers(self, span: Span) -> bool:
        """Return whether a warning at `span` is in the range of this comment."""
        return span.source is self.span.source and self.start <= span.start < self.end


def read_allows(source: Source) -> tuple[Allow, ...]:
    """Return every code of every such comment. A file that is not a YAML list has none."""
    if _MARK not in source.text.replace("opgen:allow", _MARK):
        return ()
    root = compose(source, Diagnostics())
    if not isinstance(root, SequenceNode):
        return ()
    return tuple(_allows(source, root))


def _allows(source: Source, root: SequenceNode) -> Iterator[Allow]:
    scalars = sorted((node.start, node.end) for node in _scalars(root))
    starts = [_entry_start(source, node) for node in root.items]
    for comment in _COMMENT.finditer(source.text):
        allow = _ALLOW.match(comment.group())
        if allow is None or _is_inside(comment.start(), scalars):
            continue
        start, end = _range(source, starts, comment.start())
        at, codes = comment.start(), list(_CODE.finditer(allow.group(), *allow.span(1)))
        for code in codes:
            span = Span(source, at + code.start(), at + code.end())
            yield Allow(code.group(), span, allow.group(2).strip(), start, end)
        if not codes:
            yield Allow("", Span(source, at, comment.end()), "", start, end)


def _scalars(root: Node) -> Iterator[ScalarNode]:
    open_nodes: list[Node] = [root]
    while open_nodes:
        match open_nodes.pop():
            case ScalarNode() as scalar:
                yield scalar
            case SequenceNode(items=items):
                open_nodes.extend(items)
            case MappingNode(pairs=pairs):
                open_nodes.extend(node for pair in pairs for node in pair)


def _is_inside(offset: int, scalars: list[tuple[int, int]]) -> bool:
    index = bisect_right(scalars, (offset, len(scalars) and scalars[-1][1])) - 1
    return index >= 0 and scalars[index][0] <= offset < scalars[index][1]


def _entry_start(source: Source, node: Node) -> int:
    """Return the start of the entry's first line, or of the comments directly above it."""
    line = source.location(node.start).line
    return comment_start(source.text, source.line_starts()[line - 1])


def _range(source: Source, starts: list[int], offset: int) -> tuple[int, int]:
    """Return the range of the entry that has a comment at `offset`; before the first entry, the whole file."""
    index = bisect_right(starts, offset)
    if index == 0:
        return 0, len(source.text) + 1
    return starts[index - 1], starts[index] if index < len(starts) else len(source.text) + 1
