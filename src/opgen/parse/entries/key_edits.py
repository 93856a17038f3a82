"""Edits of an entry: add or remove a key, add a tag.

Each function returns None if the layout allows more than one way to write the result, or if a comment would be lost.
"""

from __future__ import annotations

import re

from opgen.diagnostics import Edit, Source, Span
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_BREAK = re.compile(r"\r\n|\r|\n")
_BEFORE_KEY = re.compile(r" *(?:- +)?")
_HEADER = re.compile(r"[|>][0-9+]*")
_BLOCKS = ("|", ">")


def add_key(node: MappingNode, text: str) -> Edit | None:
    """Add the lines `text`, a key and its value separated by `\\n`, after those of `func`."""
    key, value = node.key_node("func"), node.get("func")
    if key is None or not isinstance(value, ScalarNode) or value.style in _BLOCKS:
        return None
    source = node.source
    margin = _margin(node, key)
    if margin is None or not node.start <= value.start < node.end:
        return None
    end = _line_end(source, value.end)
    newline = _newline(source, end)
    added = "".join(f"{newline}{' ' * len(margin)}{line}" for line in text.split("\n"))
    return Edit(Span(source, end, end), added)


def remove_key(node: MappingNode, name: str) -> Edit | None:
    """Remove the lines of the key `name` and its value."""
    key, value = node.key_node(name), node.get(name)
    if key is None or value is None:
        return None
    margin, last = _margin(node, key), _last_scalar(value)
    if margin is None or "-" in margin or last is None or last.style in _BLOCKS:
        return None
    source, text = node.source, node.source.text
    start, end = key.start - len(margin), _line_end(source, max(last.end, key.end))
    if "#" in text[start:end] or not key.start <= last.start <= node.end:
        return None
    after = _BREAK.match(text, end)
    if after is not None:
        return Edit(Span(source, start, after.end()), "")
    # The last line of the file has no line end: remove that of the line before.
    before = 2 if text.endswith("\r\n", 0, start) else 1
    return Edit(Span(source, start - before, end), "")


def add_tag(node: MappingNode, tag: str) -> Edit | None:
    """Add a tag in the form in which the others are written."""
    value = node.get("tags")
    if value is None:
        return add_key(node, f"tags: {tag}")
    if not node.start <= value.start < node.end:
        return None
    source = node.source
    if isinstance(value, ScalarNode):
        written = source.text[value.start : value.end]
        if value.style in _BLOCKS or _BREAK.search(written):
            return None
        return Edit(value.whole_span, f"[{written}, {tag}]")
    last = value.items[-1] if isinstance(value, SequenceNode) and value.items else None
    if not isinstance(last, ScalarNode) or last.style in _BLOCKS:
        return None
    if source.text[value.start] == "[":
        return Edit(Span(source, last.end, last.end), f", {tag}")
    before = source.text[_line_start(source, last.start) : last.start]
    end = _line_end(source, last.end)
    if before.strip(" ") != "-":
        return None
    return Edit(Span(source, end, end), f"{_newline(source, end)}{before}{tag}")


def strip_line_end(node: ScalarNode) -> Edit | None:
    """Remove the line end that is part of a block scalar: `|` becomes `|-`."""
    header = _HEADER.match(node.source.text, node.start)
    if node.style not in _BLOCKS or header is None:
        return None
    stripped = header.group().replace("+", "") + "-"
    return Edit(Span(node.source, node.start, header.end()), stripped)


def _margin(node: MappingNode, key: ScalarNode) -> str | None:
    """Return the text before the key on its line; None unless `node` is a block mapping and the key is first there."""
    text = node.source.text
    if not node.start <= key.start < node.end or text[node.start] == "{":
        return None
    before = text[_line_start(node.source, key.start) : key.start]
    return before if _BEFORE_KEY.fullmatch(before) else None


def _last_scalar(node: Node) -> ScalarNode | None:
    """Return the last scalar of a block; None if the block ends with a flow collection or an empty one."""
    match node:
        case ScalarNode():
            return node
        case MappingNode():
            if node.source.text[node.start] == "{" or not node.pairs:
                return None
            return _last_scalar(node.pairs[-1][1])
        case SequenceNode():
            if node.source.text[node.start] == "[" or not node.items:
                return None
            return _last_scalar(node.items[-1])


def _line_start(source: Source, position: int) -> int:
    text = source.text
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def _line_end(source: Source, position: int) -> int:
    line_break = _BREAK.search(source.text, position)
    return len(source.text) if line_break is None else line_break.start()


def _newline(source: Source, position: int) -> str:
    """Return the line end at `position`; at the end of the text, that of its first line."""
    line_break = _BREAK.match(source.text, position) or _BREAK.search(source.text)
    return "\n" if line_break is None else line_break.group()
