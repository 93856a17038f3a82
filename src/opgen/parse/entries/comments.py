"""Read comments of a schema file: documentation of operators, and `# opgen: allow(W1003) reason`.

A comment is free text, and files contain comments of many kinds. In a library, the comment lines directly above `- func:`
are documentation, without lines for tools, section headers and notes of maintainers. Lines that begin with `#:` are
documentation in every file, and if there are any, the other lines are not. Under torchgen's rules, only these are:
PyTorch's file has hundreds of other comments above entries, and none of them is for users.

A comment is one by YAML's rules: a `#` inside a scalar begins none.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from opgen.diagnostics import Source, Span
from opgen.model.profile import Profile
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, composed, value_end

# Line ends of YAML 1.1 besides "\n".
_RARE_BREAKS = "\r\x85\u2028\u2029"
_BREAK = re.compile(f"\r\n|[\n{_RARE_BREAKS}]")
_MARKED = "#:"
# Lines for opgen and other tools: "# opgen: allow(W1003)", "# yamllint disable-line".
_FOR_TOOLS = re.compile(
    r"(?:opgen|lint|cspell|spell-checker|codespell|vim?|yaml-language-server):"
    r"|(?:yamllint|prettier-ignore|noqa)\b|-\*-"
)
# Notes for maintainers, and entries that are commented out. They continue up to an empty line.
_NOTE = re.compile(r"(?:TODO|FIXME|XXX|HACK|Copyright)\b|SPDX-|- (?:func|namespace):")
# The characters of "-----", and of "---- Views ----".
_RULE_CHARACTERS = "-=*~+_/"
# "#####" and "## Views ##".
_HASHES = re.compile(r"#{3,}|##+[^#]+##+")


def comment_documentation(node: MappingNode, item: Node | None, profile: Profile) -> str | None:
    """Return the documentation in the comment directly above an entry; None if there is none.

    `item` is the one above the entry.
    """
    text = node.source.text
    above = text.rfind("\n", 0, max(text.rfind("\n", 0, node.start), 0)) + 1
    if "#" not in text[above : node.start]:
        return None
    line = _line_start(text, node.start)
    dash = text[line : node.start].rstrip(" ")
    comment = f"{dash[:-1]}#"
    start = _start_of_lines(text, line, lambda above: above.startswith(comment))
    if start == line or comment.strip(" ") != "#" or dash[-1] != "-":
        return None
    if item is not None and value_end(item) > start:
        return None
    lines = [one.strip(" \t") for one in _BREAK.split(text[start:line])[:-1]]
    marked = [one.removeprefix(_MARKED) for one in lines if one.startswith(_MARKED)]
    if marked:
        return clean(one.removeprefix(" ") for one in marked) or None
    if profile is Profile.torchgen:
        return None
    return clean(_documentation(map(_without_mark, lines))) or None


def find_bad_character(text: str) -> int | None:
    """Return the position of a character that documentation cannot contain; None if there is none."""
    for i, character in enumerate(text):
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cs"):
            return i
    return None


def clean(lines: Iterable[str]) -> str:
    """Return the lines without common indentation, blanks at their ends, and blank lines at both ends."""
    return textwrap.dedent("\n".join(_plain(line) for line in lines)).strip("\n")


def _plain(line: str) -> str:
    """Return a line without white space at its end, and with spaces instead of tabs at its start."""
    line = line.expandtabs(4).rstrip()
    words = line.lstrip()
    return " " * (len(line) - len(words)) + words


def _documentation(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are for users."""
    kept = [line for line in lines if not _FOR_TOOLS.match(line)]
    while kept and _is_rule(kept[0]):
        # A section header: one line, or the lines up to the second rule.
        ends = (i for i, line in enumerate(kept) if i and _is_rule(line))
        del kept[: 1 if _has_word(kept[0]) else next(ends, 0) + 1]
    if kept and _is_rule(kept[-1]):
        return
    is_note = False
    last = ""
    for line in map(str.rstrip, kept):
        is_note = line != "" and (is_note or _NOTE.match(line.lstrip()) is not None)
        # No two empty lines remain around a note.
        if not is_note and (line or last):
            yield line
            last = line


def _without_mark(line: str) -> str:
    """Return the text of a comment line. Rules of `#` become rules of `-`."""
    if _HASHES.fullmatch(line):
        return f"---{line.strip('#')}---"
    return line.lstrip("#").removeprefix(" ")


def _is_rule(line: str) -> bool:
    """Return whether a line is "-----" or "---- Views ----"."""
    line = line.strip()
    three = line[:3]
    if len(three) < 3 or three[0] not in _RULE_CHARACTERS or three != three[0] * 3:
        return False
    return line.endswith(three) or not _has_word(line)


def _has_word(line: str) -> bool:
    return re.search(r"\w", line) is not None


def _line_start(text: str, offset: int) -> int:
    start = text.rfind("\n", 0, offset) + 1
    return max(start, *(text.rfind(one, start, offset) + 1 for one in _RARE_BREAKS))


def _start_of_lines(text: str, line: int, belongs: Callable[[str], bool]) -> int:
    """Return the start of the lines directly above the one at offset `line`, up to one that does not belong to them."""
    start = line
    while start > 0:
        end = start - 2 if text.endswith("\r\n", 0, start) else start - 1
        above = _line_start(text, end)
        if not belongs(text[above:start]):
            break
        start = above
    return start


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
    root = composed(source)
    if not isinstance(root, SequenceNode):
        return ()
    return tuple(_allows(source, root))


def _allows(source: Source, root: SequenceNode) -> Iterator[Allow]:
    scalars = sorted((node.start, node.end) for node in _scalars(root))
    starts = [_entry_start(source, node) for node in root.items]
    for comment in _COMMENT.finditer(source.text):
        allow = _ALLOW.match(comment.group())
        last = bisect_right(scalars, (comment.start(), len(source.text))) - 1
        if allow is None or (last >= 0 and comment.start() < scalars[last][1]):
            continue
        # The range of the entry; before the first one, the whole file.
        bounds = [*starts, len(source.text) + 1]
        entry = bisect_right(starts, comment.start())
        start, end = bounds[entry - 1 : entry + 1] if entry else (0, bounds[-1])
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


def _entry_start(source: Source, node: Node) -> int:
    """Return the start of the entry's first line, or of the comments directly above it."""
    line = source.line_starts()[source.location(node.start).line - 1]
    return _start_of_lines(source.text, line, lambda above: above.lstrip(" \t").startswith("#"))
