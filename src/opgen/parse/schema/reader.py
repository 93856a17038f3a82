"""The base class of all parsers of schemas: it holds the text and a cache, and reports errors by offset."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.model.function_schema import Argument, Arguments, Return
from opgen.model.types import Type

# Maps a range of the schema's text to a span of its source.
Locate = Callable[[int, int], Span]


class SchemaCache(Struct):
    """Parsed parts of schemas, by their text. One cache serves any number of files."""

    lists: dict[str, Arguments] = field(default_factory=dict)
    arguments: dict[str, Argument] = field(default_factory=dict)
    returns: dict[str, Return] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    _library: list[SchemaCache] = field(default_factory=list)

    @property
    def library(self) -> SchemaCache:
        """The cache for schemas of libraries, whose rules (PyTorch's runtime parser) accept more."""
        if not self._library:
            self._library.append(SchemaCache())
        return self._library[0]


class TextReader:
    """Parses one schema. Each method parses the characters `start` to `end`, and returns None if it reported an error
    in them."""

    __slots__ = ("_cache", "_diagnostics", "_failed", "_locate", "_text")

    def __init__(
        self,
        text: str,
        diagnostics: Diagnostics,
        locate: Locate | None = None,
        cache: SchemaCache | None = None,
    ) -> None:
        if locate is None:
            source = Source("<schema>", text)
            locate = lambda start, end: Span(source, start, end)  # noqa: E731
        self._text = text
        self._diagnostics = diagnostics
        self._locate = locate
        self._cache = SchemaCache() if cache is None else cache
        self._failed = False

    def report(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        *,
        labels: Iterable[tuple[int, int, str]] = (),
        notes: Iterable[str] = (),
        hint: str | None = None,
        replacement: str | None = None,
    ) -> None:
        """Report an error in the characters `start` to `end`. `labels` are ranges with a text each.

        `replacement` is the correct text for these characters. It becomes a fix if the source has the same characters at this
        place; white space may differ.
        """
        span = self._locate(start, end)
        located = [(self._locate(begin, stop), text) for begin, stop, text in labels]
        text = self._text[start:end]
        is_blank = (span.text + text).isspace()
        # The last line end of a block scalar is not between two words.
        is_last = end == len(self._text) and "\n" in text
        is_sure = (span.text == text or is_blank) and not is_last
        fix = Edit(span, replacement) if replacement is not None and is_sure else None
        self._failed = True
        self._diagnostics.error(
            code, message, span, labels=located, notes=notes, hint=hint, fix=fix
        )
