"""YAML text into nodes that know where they stand.

Nodes are made from the parser's events, so that nothing is constructed, nesting is no danger, and
what YAML libraries leave unsaid (duplicate keys, aliases, merge keys) is ours to decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import yaml

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Diagnostics, Source, Span
from opgen.diagnostics.codes_limits import E0912, E0913
from opgen.parse import codes_yaml as codes
from opgen.parse.names import shorten
from opgen.parse.yaml_scalars import Char, scalar_chars

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_TAG_PREFIX = "tag:yaml.org,2002:"
_KNOWN_TAGS = {"str", "int", "float", "bool", "null", "seq", "map", "timestamp", "binary"}
# Schema files need four levels. The parser takes quadratic time for thousands.
_MAX_DEPTH = 100
# What keeps any file within seconds: PyTorch's own is of size 1.50 million, its longest text has 492.
_MAX_SIZE = 3_000_000
_MAX_TEXT = 65_536
# What each value, each line and each part between commas counts for besides its characters.
_PART_SIZE = 20
# What a list or mapping counts for: an entry takes as long as a hundred characters of it.
_COLLECTION_SIZE = 80
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TRUE = frozenset(("true", "yes", "on"))
_KIND_WORDS = {
    "str": "text",
    "bool": "true or false",
    "null": "empty",
    "int": "a number",
    "float": "a number",
    "seq": "a list",
    "map": "a mapping",
    "timestamp": "a date",
}


def may_be_too_large(text: str) -> bool:
    """Whether a file of this text, which has no aliases, may be refused for its size; told without composing it.

    There are at most two values for each colon, and one for each item of a list.
    """
    colons, commas, lines = text.count(": ") + text.count(":\n"), text.count(","), text.count("\n")
    items, opened = text.count("- "), text.count("[") + text.count("{")
    parts = 2 * colons + 2 * commas + lines + items + opened
    size = len(text) + _PART_SIZE * parts + _COLLECTION_SIZE * (items + opened + text.count(":\n"))
    return size > _MAX_SIZE


class ScalarNode(NamedTuple):
    """`tag` is the written one without its prefix, or empty. `start` is before the opening quote."""

    source: Source
    value: str
    tag: str
    style: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """What YAML takes the value for: str, bool, null, int, float, timestamp, ..."""
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
        """The text without quotes; of a block scalar the text without its last line end."""
        return self.part(0, len(self.value.rstrip("\n")))

    @property
    def whole_span(self) -> Span:
        return Span(self.source, self.start, self.end)

    def part(self, start: int, end: int) -> Span:
        """The source of the characters `start` to `end` of the value."""
        begin = self.start + 1 if self.style in ("'", '"') else self.start
        if self.source.text.startswith(self.value, begin):
            return Span(self.source, begin + start, begin + end)
        chars = self.source.remember(self.start, self._kept_chars)
        return Span(self.source, *_stretch(chars, start, end)) if chars else self.whole_span

    def _kept_chars(self) -> list[Char]:
        """The characters that are more than nothing; none if they cannot be told apart."""
        chars = scalar_chars(self.source.text, self.start, self.end, self.style, self.value)
        return [c for c in chars or () if c.text]


def _stretch(kept: list[Char], start: int, end: int) -> tuple[int, int]:
    """The source of the characters `start` to `end`; an empty stretch is the point before `start`."""
    if start >= end:
        point = kept[start].start if start < len(kept) else kept[-1].end
        return point, point
    return kept[start].start, kept[end - 1].end


class SequenceNode(NamedTuple):
    source: Source
    items: tuple[Node, ...]
    start: int
    end: int
    kind: str = "seq"

    @property
    def span(self) -> Span:
        """The first line of it: a list may be long."""
        return _first_line(self.source, self.start, self.end)


class MappingNode(NamedTuple):
    """`pairs` holds what was written and what was merged in; every key is a scalar."""

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
    """What YAML takes a node for, in words."""
    return _KIND_WORDS.get(node.kind, f"of the YAML type '{node.kind}'")


def _first_line(source: Source, start: int, end: int) -> Span:
    text = source.text[start:end]
    line = re.split(r"[\r\n]", text, maxsplit=1)[0].rstrip()
    return Span(source, start, start + len(line))


def compose(
    source: Source, diagnostics: Diagnostics, *, strict_torchgen: bool = False
) -> Node | None:
    """The one document of `source`; None if it is empty or is not YAML.

    With `strict_torchgen` merge keys are reported: torchgen's loader refuses them.
    """
    return _Composer(source, diagnostics, strict_torchgen).compose()


class _TooLarge(Exception):
    """Ends the reading of a file; it is reported already."""


@dataclass(slots=True)
class _Open:
    """A list or mapping that has begun; the children of a mapping are keys and values in turn."""

    event: yaml.CollectionStartEvent
    # The size of all that was before it.
    before: int
    children: list[Node | None] = field(default_factory=list)


@dataclass(slots=True)
class _Composer:
    source: Source
    diagnostics: Diagnostics
    strict_torchgen: bool = False
    # What a byte order mark shifts offsets by: the loader does not see it.
    base: int = 0
    stack: list[_Open] = field(default_factory=list)
    # With its size; None while the anchored node is still open.
    anchors: dict[str, tuple[Node, int] | None] = field(default_factory=dict)
    roots: list[Node | None] = field(default_factory=list)
    # Of what was read so far, what aliases repeat included.
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
            self._unprintable()
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
                    self._add(node, opened.event.anchor, self.size - opened.before)
                case yaml.AliasEvent():
                    self._add(self._alias(event), None, 0)
                case yaml.DocumentStartEvent():
                    self._document(event)
                case yaml.StreamEndEvent():
                    return

    def _add(self, node: Node | None, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = None if node is None else (node, size)
        (self.stack[-1].children if self.stack else self.roots).append(node)

    def _span(self, event: yaml.Event) -> Span:
        return Span(self.source, *self._offsets(event))

    def _offsets(self, event: yaml.Event) -> tuple[int, int]:
        # The loaders always give marks, though the type allows for none.
        assert event.start_mark is not None and event.end_mark is not None
        return self.base + event.start_mark.index, self.base + event.end_mark.index

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        text = event.value
        size = len(text) + _PART_SIZE * (1 + text.count(",") + text.count("\n"))
        self._grow(event, size)
        if len(text) > _MAX_TEXT:
            self._too_long(event)
        start, end = self._offsets(event)
        tag = self._tag(event) if event.tag else ""
        node = ScalarNode(self.source, text, tag, event.style or "", start, end)
        self._add(node, event.anchor, size)

    def _tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> str:
        """The tag without its prefix. One of a foreign language says nothing to us."""
        tag = str(event.tag).removeprefix(_TAG_PREFIX)
        if tag == "!":
            return "str"
        if tag not in _KNOWN_TAGS:
            start, _ = self._offsets(event)
            span = _first_word(self.source, start)
            self.diagnostics.error(codes.E0109, f"unknown YAML tag '{event.tag}'", span)
            return ""
        return tag

    def _alias(self, event: yaml.AliasEvent) -> Node | None:
        name = event.anchor or ""
        found = self.anchors.get(name)
        if found is None:
            known = name in self.anchors
            message = (
                f"alias '*{name}' stands inside the node that it names"
                if known
                else f"alias '*{name}' without an anchor '&{name}' before it"
            )
            span = self._span(event)
            self.diagnostics.error(codes.E0106, message, span)
            return None
        node, size = found
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
                self.diagnostics.error(codes.E0108, "a key must be plain text", key.span)
            elif key.value == "<<" and not key.style:
                merges.append(value)
                if self.strict_torchgen:
                    hint = "write the keys out"
                    message = "torchgen's loader refuses '<<'"
                    self.diagnostics.error(codes.E0114, message, key.span, hint=hint)
            elif (first := seen.setdefault(key.value, key)) is not key:
                self._duplicate(first, key)
            else:
                pairs.append((key, value))
        return tuple(pairs + self._merged(merges, seen)) if merges else tuple(pairs)

    def _duplicate(self, first: ScalarNode, second: ScalarNode) -> None:
        self.diagnostics.error(
            codes.E0103,
            f"key '{shorten(second.value)}' is written twice",
            second.span,
            labels=[(first.span, "first written here")],
        )

    def _merged(
        self, merges: list[Node], seen: Mapping[str, ScalarNode]
    ) -> list[tuple[ScalarNode, Node]]:
        """What `<<` brings in: keys that are not written, of earlier mappings before later ones."""
        found: dict[str, tuple[ScalarNode, Node]] = {}
        for merge in merges:
            for node in merge.items if isinstance(merge, SequenceNode) else (merge,):
                if not isinstance(node, MappingNode):
                    message = "'<<' takes a mapping or a list of mappings"
                    self.diagnostics.error(codes.E0107, message, node.span)
                    continue
                for key, value in node.pairs:
                    if key.value not in seen:
                        found.setdefault(key.value, (key, value))
        return list(found.values())

    def _grow(self, event: yaml.Event, size: int) -> None:
        """Count what `event` adds, and stop if that is more than anybody writes."""
        self.size += size
        if self.size > _MAX_SIZE:
            message = f"the file holds more than {_MAX_SIZE:,} characters"
            notes = (
                f"each value, line and part between commas counts for {_PART_SIZE} more, "
                f"a list or mapping for {_COLLECTION_SIZE}",
                "an alias counts for all that it repeats",
            )
            start, _ = self._offsets(event)
            self.diagnostics.error(E0912, message, Span(self.source, start, start + 1), notes=notes)
            raise _TooLarge

    def _too_long(self, event: yaml.ScalarEvent) -> None:
        message = f"a text of more than {_MAX_TEXT:,} characters"
        start, _ = self._offsets(event)
        self.diagnostics.error(E0913, message, Span(self.source, start, start + 1))
        raise _TooLarge

    def _too_deep(self, event: yaml.Event) -> None:
        start, _ = self._offsets(event)
        message = f"more than {_MAX_DEPTH} lists and mappings inside each other"
        self.diagnostics.error(codes.E0112, message, Span(self.source, start, start + 1))

    def _document(self, event: yaml.DocumentStartEvent) -> None:
        if self.roots:
            span = self._span(event)
            self.diagnostics.error(codes.E0110, "a second document begins here", span)

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> None:
        message = f"not YAML: {error.problem or error.context}"
        problem = self._point(error.problem_mark or error.context_mark)
        context = self._point(error.context_mark)
        labels = (
            [(context, str(error.context))] if error.context_mark and context != problem else []
        )
        self.diagnostics.error(codes.E0102, message, problem, labels=labels)

    def _point(self, mark: yaml.Mark | None) -> Span:
        offset = self.base + (mark.index if mark is not None else 0)
        offset = min(offset, len(self.source.text))
        return Span(self.source, offset, offset)

    def _unprintable(self) -> None:
        found = _UNPRINTABLE.search(self.source.text, self.base)
        start, end = found.span() if found is not None else (0, 0)
        name = f"U+{ord(found.group()):04X}" if found is not None else "a character"
        message = f"not YAML: {name} may not stand in a file"
        self.diagnostics.error(codes.E0102, message, Span(self.source, start, end))


def _first_word(source: Source, start: int) -> Span:
    word = re.compile(r"\S*").match(source.text, start)
    return Span(source, start, word.end() if word is not None else start)
