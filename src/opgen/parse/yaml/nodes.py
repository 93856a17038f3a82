"""Parse YAML text as nodes that know their positions.

Nodes are built from the events of PyYAML's parser and not by its constructor: no Python object is constructed from a
tag, deep nesting does not recurse, and duplicate keys, aliases and merge keys are handled here.

Most scalars have the same characters as their source. Any other (with escapes, folded lines, or a block) is read a second
time, beside its value, recording the source range of each character.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn, TypeAlias

import yaml
from msgspec import Struct, field

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.diagnostics.suggestions import shorten
from opgen.parse.yaml.syntax_mistakes import find_syntax_mistake

_BREAKS = "\r\n\x85\u2028\u2029"
_FOLD = re.compile(rf"[ \t]*(?:\r\n|[{_BREAKS}])(?:[ \t]|[{_BREAKS}])*")
_BREAK = re.compile(rf"\r\n|[{_BREAKS}]")
_LINE = re.compile(rf"([^{_BREAKS}]*)(\r\n|[{_BREAKS}]|\Z)")
_FIRST_TEXT = re.compile(rf"(?:\A|(?<=[{_BREAKS}]))( *)[^ {_BREAKS}]")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
Range = tuple[int, int]


def character_ranges(source: str, start: int, end: int, style: str, value: str) -> list[Range]:
    """Return the source range of each character of the scalar at `start`.

    `style` is "" (plain), "'", '"', "|" or ">". Empty if the characters found here do not add up to `value`.
    """
    if style in ("|", ">"):
        ranges = _block(source, start, end, value)
    else:
        ranges = list(_flow(source, start + len(style), end - len(style), style))
    is_same = len(ranges) == len(value) and all(
        sign.isspace() or source[begin] in (sign, "\\") for sign, (begin, _) in zip(value, ranges)
    )
    return ranges if is_same else []


def _flow(source: str, at: int, end: int, style: str) -> Iterator[Range]:
    while at < end:
        start, letter = at, source[at + 1 : at + 2]
        if style == "'" and source.startswith("''", at):
            at += 2
        elif style == '"' and source[at] == "\\":
            # An escaped line end vanishes, with the indentation of the next line.
            fold = _FOLD.match(source, at + 1, end)
            if fold is not None and letter != "\t":
                at = fold.end()
                continue
            at += 2 + _HEX_DIGITS.get(letter, 0)
        elif fold := _FOLD.match(source, at, end):
            breaks = list(_BREAK.finditer(source, at, fold.end()))
            at = fold.end()
            if len(breaks) > 1:
                yield from (line_end.span() for line_end in breaks[1:])
                continue
        else:
            at += 1
        yield start, at


def _block(source: str, start: int, end: int, value: str) -> list[Range]:
    """Read a block scalar, whose indentation is taken from its first line with text.

    YAML may define it relative to the parent's indentation, which is unknown here. Which line ends remain is seen in the
    value.
    """
    header = _LINE.match(source, start)
    assert header is not None
    lines = list(_LINE.finditer(source, header.end(), max(end, header.end())))
    first = next((line[1] for line in lines if line[1].strip(" ")), None)
    first_of_value = _FIRST_TEXT.search(value)
    if first is None or first_of_value is None:
        return []
    indent = len(first) - len(first.lstrip(" ")) - len(first_of_value[1])
    ranges: list[Range] = []
    for line in lines if indent > 0 else ():
        begin = line.start() + min(indent, len(line[1]))
        ranges += ((at, at + 1) for at in range(begin, line.end(1)))
        if value[len(ranges) : len(ranges) + 1].isspace():
            ranges.append(line.span(2))
    return ranges[: len(value)]


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_TAG_PREFIX = "tag:yaml.org,2002:"
_KNOWN_TAGS = {"str", "int", "float", "bool", "null", "seq", "map", "timestamp", "binary"}
# Schema files need four levels. The parser takes quadratic time for thousands.
_MAX_DEPTH = 100
# Limits that keep the time for any file to seconds. PyTorch's own file has size 1.50 million and a longest scalar of
# 492 characters.
_MAX_SIZE = 3_000_000
_MAX_SCALAR = 65_536
# Each scalar, each line and each part between commas adds this to the size, besides its characters.
_PART_SIZE = 20
# Each list or mapping adds this to the size: an entry takes as much time as a hundred of its characters.
_COLLECTION_SIZE = 80
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TRUE = frozenset(("true", "yes", "on"))
_KIND_WORDS = {
    "str": "a string",
    "bool": "true or false",
    "null": "empty",
    "int": "a number",
    "float": "a number",
    "seq": "a list",
    "map": "a mapping",
    "timestamp": "a date",
}


class ScalarNode(Struct, frozen=True):
    """A scalar. `tag` is the explicit tag without its prefix, or empty. `start` is before the opening quote."""

    source: Source
    value: str
    tag: str
    style: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """The type of the value in YAML: str, bool, null, int, float, timestamp, ..."""
        if self.tag:
            return self.tag
        if not self.style:
            for tag, pattern in _RESOLVERS.get(self.value[:1], ()):
                if pattern.match(self.value):
                    return str(tag).removeprefix(_TAG_PREFIX)
        return "str"

    @property
    def is_true(self) -> bool:
        """The value of a node of kind bool."""
        return self.value.lower() in _TRUE

    @property
    def span(self) -> Span:
        """The value without quotes; for a block scalar, without its last line end."""
        return self.part(0, len(self.value.rstrip("\n")))

    @property
    def whole_span(self) -> Span:
        return Span(self.source, self.start, self.end)

    def part(self, start: int, end: int) -> Span:
        """Return the source of the characters `start` to `end` of the value."""
        begin = self.start + 1 if self.style in ("'", '"') else self.start
        if self.source.text.startswith(self.value, begin):
            return Span(self.source, begin + start, begin + end)
        ranges = self.source.remember(self.start, self._ranges)
        if not ranges:
            return self.whole_span
        if start < end:
            return Span(self.source, ranges[start][0], ranges[end - 1][1])
        point = ranges[start][0] if start < len(ranges) else ranges[-1][1]
        return Span(self.source, point, point)

    def _ranges(self) -> list[tuple[int, int]]:
        return character_ranges(self.source.text, self.start, self.end, self.style, self.value)


class SequenceNode(Struct, frozen=True):
    source: Source
    items: tuple[Node, ...]
    start: int
    end: int
    kind: str = "seq"

    @property
    def span(self) -> Span:
        """The first line of the list, which may be long."""
        return _first_line(self.source, self.start, self.end)


class MappingNode(Struct, frozen=True):
    """A mapping. `pairs` holds the written keys and those merged by `<<`; every key is a scalar."""

    source: Source
    pairs: tuple[tuple[ScalarNode, Node], ...]
    start: int
    end: int
    kind: str = "map"

    @property
    def span(self) -> Span:
        return _first_line(self.source, self.start, self.end)

    def get(self, key: str) -> Node | None:
        for name, value in self.pairs:
            if name.value == key:
                return value
        return None

    def key_node(self, key: str) -> ScalarNode | None:
        return next((name for name, _ in self.pairs if name.value == key), None)


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode


def describe(node: Node) -> str:
    """Describe the type of a node for a message, such as "a list"."""
    return _KIND_WORDS.get(node.kind, f"of the YAML type '{node.kind}'")


def value_end(node: Node) -> int:
    """Return the end of a value's text: the node of a block ends where the next node begins."""
    match node:
        case ScalarNode():
            return node.end
        case MappingNode():
            if node.source.text[node.start] == "{" or not node.pairs:
                return node.end
            key, value = node.pairs[-1]
            return max(key.end, value_end(value))
        case SequenceNode():
            if node.source.text[node.start] == "[" or not node.items:
                return node.end
            return value_end(node.items[-1])


def _first_line(source: Source, start: int, end: int) -> Span:
    line = re.split(r"[\r\n]", source.text[start:end], maxsplit=1)[0].rstrip()
    return Span(source, start, start + len(line))


# The key of a source's document among the attributes of the source.
_ROOT = "root"


def compose(
    source: Source, diagnostics: Diagnostics, *, strict_torchgen: bool = False
) -> Node | None:
    """Parse the only document of `source`. None if it is empty or not YAML.

    With `strict_torchgen`, merge keys (`<<`) are errors: torchgen's loader does not accept them.
    """
    root = _Composer(source, diagnostics, strict_torchgen).compose()
    vars(source)[_ROOT] = root
    return root


def composed(source: Source) -> Node | None:
    """Return the document that `compose` returned for `source`, or else parse it."""
    return vars(source)[_ROOT] if _ROOT in vars(source) else compose(source, Diagnostics())


class _TooLarge(Exception):
    """Stops the parsing of a file. The error has been reported."""


class _Open(Struct):
    """A list or mapping that has not ended. The children of a mapping are keys and values in turn."""

    event: yaml.CollectionStartEvent
    # The size of everything before it.
    size_before: int
    children: list[Node | None] = field(default_factory=list)


class _Composer(Struct):
    source: Source
    diagnostics: Diagnostics
    strict_torchgen: bool = False
    # 1 after a byte order mark, which the loader does not see, else 0.
    base: int = 0
    stack: list[_Open] = field(default_factory=list)
    # Each anchored node with its size; None until the node ends.
    anchors: dict[str, tuple[Node, int] | None] = field(default_factory=dict)
    roots: list[Node | None] = field(default_factory=list)
    # The size of everything so far, including what aliases repeat.
    size: int = 0

    def compose(self) -> Node | None:
        text = self.source.text
        if text.startswith("\ufeff"):
            self.base = 1
        try:
            self._events(_Loader(text[self.base :]))
        except _TooLarge:
            return None
        except yaml.MarkedYAMLError as error:
            self._syntax_error(error)
            return None
        except (yaml.YAMLError, UnicodeEncodeError):
            character = _UNPRINTABLE.search(self.source.text, self.base)
            start, end = character.span() if character is not None else (0, 0)
            name = f"U+{ord(character.group()):04X}" if character is not None else "a character"
            message = f"not YAML: {name} is not allowed in a file"
            self.diagnostics.error("E0102", message, Span(self.source, start, end))
            return None
        return self.roots[0] if self.roots else None

    def _events(self, loader: yaml.SafeLoader) -> None:
        get_event: Callable[[], yaml.Event] = loader.get_event
        while True:
            event = get_event()
            match event:
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.CollectionStartEvent():
                    if len(self.stack) == _MAX_DEPTH:
                        self._too_deep(event)
                        return
                    self.stack.append(_Open(event, self.size))
                    self._grow(event, _COLLECTION_SIZE)
                    if event.anchor is not None:
                        self.anchors[event.anchor] = None
                case yaml.CollectionEndEvent():
                    opened = self.stack.pop()
                    node = self._collection(opened, event)
                    self._add(node, opened.event.anchor, self.size - opened.size_before)
                case yaml.AliasEvent():
                    self._add(self._alias(event), None, 0)
                case yaml.DocumentStartEvent():
                    if self.roots:
                        span = self._span(event)
                        self.diagnostics.error("E0110", "a second document begins here", span)
                case yaml.StreamEndEvent():
                    return

    def _add(self, node: Node | None, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = None if node is None else (node, size)
        (self.stack[-1].children if self.stack else self.roots).append(node)

    def _span(self, event: yaml.Event) -> Span:
        return Span(self.source, *self._offsets(event))

    def _offsets(self, event: yaml.Event) -> tuple[int, int]:
        # The loaders always set both marks, though their type is optional.
        assert event.start_mark is not None and event.end_mark is not None
        return self.base + event.start_mark.index, self.base + event.end_mark.index

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        value = event.value
        size = len(value) + _PART_SIZE * (1 + value.count(",") + value.count("\n"))
        self._grow(event, size)
        if len(value) > _MAX_SCALAR:
            self._stop(event, "E0913", f"a string of more than {_MAX_SCALAR:,} characters")
        start, end = self._offsets(event)
        tag = self._tag(event) if event.tag else ""
        node = ScalarNode(self.source, value, tag, event.style or "", start, end)
        self._add(node, event.anchor, size)

    def _tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> str:
        """Return the tag without its prefix. A tag that is not one of YAML's own is reported, and dropped."""
        tag = str(event.tag).removeprefix(_TAG_PREFIX)
        if tag == "!":
            return "str"
        if tag not in _KNOWN_TAGS:
            start, _ = self._offsets(event)
            word = re.compile(r"\S*").match(self.source.text, start)
            span = Span(self.source, start, word.end() if word is not None else start)
            self.diagnostics.error("E0109", f"unknown YAML tag '{event.tag}'", span)
            return ""
        return tag

    def _alias(self, event: yaml.AliasEvent) -> Node | None:
        name = event.anchor or ""
        anchored = self.anchors.get(name)
        if anchored is None:
            message = (
                f"alias '*{name}' is inside the node that it refers to"
                if name in self.anchors
                else f"alias '*{name}' without an anchor '&{name}' before it"
            )
            self.diagnostics.error("E0106", message, self._span(event))
            return None
        node, size = anchored
        self._grow(event, size)
        return node

    def _collection(self, opened: _Open, closing: yaml.Event) -> Node:
        if opened.event.tag:
            self._tag(opened.event)
        start, end = self._offsets(opened.event)[0], self._offsets(closing)[1]
        if isinstance(opened.event, yaml.SequenceStartEvent):
            items = tuple(child for child in opened.children if child is not None)
            return SequenceNode(self.source, items, start, end)
        return MappingNode(self.source, self._pairs(opened.children), start, end)

    def _pairs(self, children: list[Node | None]) -> tuple[tuple[ScalarNode, Node], ...]:
        seen: dict[str, ScalarNode] = {}
        pairs: list[tuple[ScalarNode, Node]] = []
        merges: list[Node] = []
        for key, value in zip(children[::2], children[1::2]):
            if key is None or value is None:
                continue
            if not isinstance(key, ScalarNode):
                self.diagnostics.error("E0108", "a key must be a string", key.span)
            elif key.value == "<<" and not key.style:
                merges.append(value)
                if self.strict_torchgen:
                    hint = "write the keys out"
                    message = "torchgen's loader does not accept '<<'"
                    self.diagnostics.error("E0114", message, key.span, hint=hint)
            elif (first := seen.setdefault(key.value, key)) is not key:
                message = f"key '{shorten(key.value)}' is written twice"
                labels = [(first.span, "first written here")]
                self.diagnostics.error("E0103", message, key.span, labels=labels)
            else:
                pairs.append((key, value))
        return tuple(pairs + self._merged(merges, seen)) if merges else tuple(pairs)

    def _merged(
        self, merges: list[Node], seen: Mapping[str, ScalarNode]
    ) -> list[tuple[ScalarNode, Node]]:
        """Return the pairs that `<<` adds: keys that the mapping has not `seen`, the first of each."""
        pairs: dict[str, tuple[ScalarNode, Node]] = {}
        for merge in merges:
            for node in merge.items if isinstance(merge, SequenceNode) else (merge,):
                if not isinstance(node, MappingNode):
                    message = "'<<' takes a mapping or a list of mappings"
                    self.diagnostics.error("E0107", message, node.span)
                    continue
                for key, value in node.pairs:
                    if key.value not in seen:
                        pairs.setdefault(key.value, (key, value))
        return list(pairs.values())

    def _grow(self, event: yaml.Event, size: int) -> None:
        """Add `size` to that of the file; report and raise if the file is too large."""
        self.size += size
        if self.size > _MAX_SIZE:
            message = f"the file holds more than {_MAX_SIZE:,} characters"
            notes = (
                f"each value, line and part between commas counts as {_PART_SIZE} more, "
                f"a list or mapping as {_COLLECTION_SIZE}",
                "an alias counts as everything that it repeats",
            )
            self._stop(event, "E0912", message, notes)

    def _stop(
        self, event: yaml.Event, code: str, message: str, notes: tuple[str, ...] = ()
    ) -> NoReturn:
        start, _ = self._offsets(event)
        self.diagnostics.error(code, message, Span(self.source, start, start + 1), notes=notes)
        raise _TooLarge

    def _too_deep(self, event: yaml.Event) -> None:
        start, _ = self._offsets(event)
        message = f"more than {_MAX_DEPTH} nested lists and mappings"
        self.diagnostics.error("E0112", message, Span(self.source, start, start + 1))

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> None:
        message = f"not YAML: {error.problem or error.context}"
        problem = self._point(error.problem_mark or error.context_mark)
        context = self._point(error.context_mark)
        started = context.start if error.context_mark else None
        mistake = find_syntax_mistake(self.source, problem.start, started)
        if mistake is not None:
            span = Span(self.source, mistake.start, mistake.end)
            message = f"not YAML: {mistake.message}"
            self.diagnostics.error("E0102", message, span, hint=mistake.hint)
            return
        labels = (
            [(context, str(error.context))] if error.context_mark and context != problem else []
        )
        self.diagnostics.error("E0102", message, problem, labels=labels)

    def _point(self, mark: yaml.Mark | None) -> Span:
        offset = self.base + (mark.index if mark is not None else 0)
        offset = min(offset, len(self.source.text))
        return Span(self.source, offset, offset)


def decode_source(path: str, content: bytes, diagnostics: Diagnostics) -> Source:
    """Decode a file as UTF-8, with or without a byte order mark.

    Invalid bytes are reported (E0101) and replaced by U+FFFD. The digest is that of `content`.
    """
    digest = hashlib.sha256(content).hexdigest()
    try:
        return Source(path, content.decode("utf-8-sig"), digest)
    except UnicodeDecodeError as error:
        before = len(content[: error.start].decode("utf-8-sig", errors="replace"))
        source = Source(path, content.decode("utf-8-sig", errors="replace"), digest)
        message = f"not UTF-8: byte 0x{content[error.start]:02x}"
        diagnostics.error("E0101", message, Span(source, before, before + 1))
        return source
