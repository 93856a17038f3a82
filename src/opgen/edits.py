"""Edit source texts: apply the fixes of diagnostics, and put the keys of each entry into the usual order.

Keys move with their lines: a comment above a key moves with it, and so does a comment below its value that is indented more
than the keys. Lines themselves do not change. Entries in braces, entries with anchors, aliases or merged keys, and
everything between entries stay unchanged.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Edit, Source, Span, until_too_many
from opgen.parse.entries.keys import KEY_ORDER
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose, value_end


def apply_edits(text: str, edits: Iterable[Edit]) -> tuple[str, int]:
    """Return `text` with `edits` applied, and their number. If edits overlap, only the first is applied.

    Offsets are those of `text`. Two equal edits are one; two insertions at one place overlap.
    """
    parts: list[str] = []
    position, made = 0, 0
    last: tuple[int, int] | None = None
    distinct = dict.fromkeys((e.span.start, e.span.end, e.replacement) for e in edits)
    for start, end, replacement in sorted(distinct):
        if start < position or (start, end) == last:
            continue
        parts += text[position:start], replacement
        position, made, last = end, made + 1, (start, end)
    return "".join((*parts, text[position:])), made


def encode_like(text: str, content: bytes) -> bytes:
    """Encode `text`, with a byte order mark if `content`, from which it was decoded, has one."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    return mark + text.encode("utf-8")


# Each round fixes at least one problem, and no real file hides mistakes this deep.
_MAX_ROUNDS = 20
# Each round reads all files, and a megabyte takes up to 2 s: larger files get fewer rounds.
_MAX_READ = 1_800_000
# No round needs more errors than these, and finding them takes time, too.
MAX_FIXES = 2_000

_Found = TypeVar("_Found")

# The diagnostics for given contents of the files, and another result of the check.
Checked = tuple[Diagnostics, _Found]
Check = Callable[[Mapping[Path, bytes]], Checked[_Found]]


class Fixed(Struct, Generic[_Found], frozen=True):
    """The contents of the files that fixing changed, and the number of fixes.

    `first` is the result of the check before fixing, `last` the result after it.
    """

    contents: Mapping[Path, bytes]
    count: int
    first: Checked[_Found]
    last: Checked[_Found]


def fix_all(contents: Mapping[Path, bytes], check: Check[_Found]) -> Fixed[_Found]:
    """Apply every fix that `check` finds for the files of `contents`, until none is left.

    For large files, it may end before that; then `last` has fixes left, which another call applies.

    `check` must name its sources by `str()` of their paths.
    """
    now = dict(contents)
    seen = {tuple(now.values())}
    count = 0
    first = last = check(now)
    size = sum(map(len, now.values()))
    for _ in range(min(_MAX_ROUNDS, max(1, _MAX_READ // max(1, size)))):
        then, made = _apply_round(now, last[0])
        # Fixes that undo each other are a bug of their rules; then nothing more is changed.
        if not made or tuple(then.values()) in seen:
            break
        now, count = then, count + made
        seen.add(tuple(now.values()))
        last = check(now)
    changed = {path: content for path, content in now.items() if content != contents[path]}
    return Fixed(changed, count, first, last)


def _apply_round(
    contents: Mapping[Path, bytes], diagnostics: Diagnostics
) -> tuple[dict[Path, bytes], int]:
    """Return the contents with the fixes of `diagnostics`, and the number of fixes."""
    by_path: dict[str, list[Edit]] = {}
    for item in diagnostics:
        if item.fix is not None:
            by_path.setdefault(item.fix.span.source.path, []).append(item.fix)
    then, made = dict(contents), 0
    for path, content in contents.items():
        edits = by_path.get(str(path), [])
        text = edits[0].span.source.text if edits else ""
        # A file that is not UTF-8 cannot be written back unchanged.
        if edits and encode_like(text, content) == content:
            text, number = apply_edits(text, edits)
            then[path] = encode_like(text, content)
            made += number
    return then, made


_BREAK = re.compile(r"\r\n|\r|\n")
_DASH = re.compile(r"( *)- +")
# An anchor or an alias, which begins after a blank or a bracket.
_REFERENCE = re.compile(r"(?:^|[\s\[{,])[&*][^\s,)\]]", re.MULTILINE)
_MOST_REPETITIONS = 10
_BLANK = re.compile(r"[ \t]*")
_RANK = {name: rank for rank, name in enumerate(KEY_ORDER)}


def format_contents(path: Path, content: bytes) -> bytes:
    """Format the bytes of a file; return bytes that are not UTF-8 unchanged."""
    try:
        source = Source(str(path), content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return content
    return encode_like(format_entries(source), content)


def format_entries(source: Source) -> str:
    """Format the entries of a text; return a text that is not a list of entries unchanged.

    An entry that must stay unchanged next to another may be formatted after that one, so this is repeated.
    """
    text = _format_once(source)
    for _ in range(_MOST_REPETITIONS):
        again = _format_once(Source(source.path, text))
        if again == text:
            break
        text = again
    return text


def _format_once(source: Source) -> str:
    root = _read(source)
    edits = [_format_entry(source, n) for n in root.items] if isinstance(root, SequenceNode) else []
    if not isinstance(root, SequenceNode) or not any(edits):
        return source.text
    # A literal block may include the blank lines after it: such entries stay unchanged.
    same = _unchanged(source, root, edits)
    if not all(same):
        edits = [edit if ok else None for edit, ok in zip(edits, same)]
        if not all(_unchanged(source, root, edits)):
            return source.text
    return _applied(source, edits)


@until_too_many(lambda: None)
def _read(source: Source) -> Node | None:
    return compose(source, Diagnostics())


def _unchanged(source: Source, root: SequenceNode, edits: list[Edit | None]) -> list[bool]:
    """Return for each entry whether its value is the same with the edits and without."""
    again = _read(Source(source.path, _applied(source, edits)))
    if not isinstance(again, SequenceNode) or len(again.items) != len(edits):
        return [False] * len(edits)
    return [_value(old) == _value(new) for old, new in zip(root.items, again.items)]


def _applied(source: Source, edits: list[Edit | None]) -> str:
    return apply_edits(source.text, [edit for edit in edits if edit is not None])[0]


def _value(node: Node) -> object:
    """Return the value of a node, independent of its style and the order of its keys."""
    match node:
        case ScalarNode():
            return node.value, node.kind
        case SequenceNode():
            return [_value(item) for item in node.items]
        case MappingNode():
            return {key.value: _value(value) for key, value in node.pairs}


class _Line(Struct, frozen=True):
    """The offsets of a line: its start, the end of its text, and the start of the next line."""

    start: int
    end: int
    next: int


def _format_entry(source: Source, node: Node) -> Edit | None:
    if not isinstance(node, MappingNode) or not node.pairs:
        return None
    margin = _margin(source, node)
    if margin is None:
        return None
    keys = [key.value for key, _ in node.pairs]
    order = sorted(range(len(keys)), key=lambda i: _RANK.get(keys[i], len(_RANK)))
    if order == list(range(len(keys))):
        return None
    ends = [_last_line(source, key, value, margin) for key, value in node.pairs]
    start, end = _line_at(source, node.pairs[0][0].start).start, ends[-1].next
    if _REFERENCE.search(source.text, start, end):
        return None
    return Edit(Span(source, start, end), _reordered(source, node, margin, ends, order))


def _reordered(
    source: Source, node: MappingNode, margin: str, ends: list[_Line], order: list[int]
) -> str:
    """Return the lines of the keys in the new order, the first of them after the dash."""
    text = source.text
    start = _line_at(source, node.pairs[0][0].start).start
    found = _BREAK.search(text)
    newline = "\n" if found is None else found.group()
    dash, blanks = text[start : start + len(margin)], " " * len(margin)
    rows: list[tuple[str, str]] = []
    for (key, _), end in zip(node.pairs, ends):
        line = _line_at(source, key.start)
        body = text[line.start + len(margin) : end.next]
        # The lines above the key, and those of the key.
        rows.append((text[start : line.start], body))
        start = end.next
    is_last = not text.endswith(("\n", "\r"), 0, ends[-1].next)
    made = ""
    for place, (above, body) in enumerate(rows[i] for i in order):
        ending = "" if body.endswith(("\n", "\r")) else newline
        made += f"{above}{dash if place == 0 else blanks}{body}{ending}"
    return made.removesuffix(newline) if is_last else made


def _margin(source: Source, node: MappingNode) -> str | None:
    """Return the text before the first key in its line, if all keys begin lines, in the same column."""
    text = source.text
    if text[node.start] == "{":
        return None
    margin = ""
    for number, (key, _) in enumerate(node.pairs):
        if not node.start <= key.start < node.end or key.tag:
            return None
        before = text[_line_at(source, key.start).start : key.start]
        if number == 0:
            margin = before
            if before.strip(" ") and not _DASH.fullmatch(before):
                return None
        elif before != " " * len(margin):
            return None
    return margin


def _last_line(source: Source, key: ScalarNode, value: Node, margin: str) -> _Line:
    """Return the last line of a value, including comments below it that are indented more than its key."""
    end = max(value_end(value), key.end)
    last = _line_at(source, end - 1 if _is_block(value) else end)
    line = last
    while line.next > line.end and line.next < len(source.text):
        line = _line_at(source, line.next)
        blank = _BLANK.match(source.text, line.start, line.end)
        assert blank is not None
        if blank.end() == line.end:
            continue
        if source.text[blank.end()] != "#" or blank.end() - line.start <= len(margin):
            break
        last = line
    return last


def _is_block(node: Node) -> bool:
    """Return whether the value ends in a literal or folded block, which ends after a line end."""
    match node:
        case ScalarNode():
            return node.style in ("|", ">")
        case MappingNode():
            is_flow = node.source.text[node.start] == "{"
            return not is_flow and bool(node.pairs) and _is_block(node.pairs[-1][1])
        case SequenceNode():
            is_flow = node.source.text[node.start] == "["
            return not is_flow and bool(node.items) and _is_block(node.items[-1])


def _line_at(source: Source, position: int) -> _Line:
    text = source.text
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    found = _BREAK.search(text, position)
    if found is None:
        return _Line(start, len(text), len(text))
    return _Line(start, found.start(), found.end())


def format_all(
    contents: Mapping[Path, bytes], check: Check[Diagnostics]
) -> tuple[Mapping[Path, bytes], Diagnostics]:
    """Return the contents that formatting changes, and the diagnostics of the formatted files.

    `check` returns diagnostics for misplaced white space, if there are no other errors, and all diagnostics. If files have
    other errors, nothing changes, and the diagnostics are those of the files.
    """
    fixed = fix_all(contents, check)
    found = fixed.last[1]
    if found.has_errors:
        return {}, fixed.first[1]
    spaced = {**contents, **fixed.contents}
    # The order of keys does not change the meaning, so the files need no further check.
    new = {path: format_contents(path, content) for path, content in spaced.items()}
    changed = {path: content for path, content in new.items() if content != contents[path]}
    return changed, found
