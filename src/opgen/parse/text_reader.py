"""What all readers of schema text share: the text, a cache, and reporting by offset."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.diagnostics.codes import Code
from opgen.model.function_schema import Argument, Arguments, Return
from opgen.model.types import Type

# Of a part of the text, where it stands in a source.
Locate = Callable[[int, int], Span]


@dataclass(slots=True)
class SchemaCache:
    """What has been parsed already, by its text. One serves any number of files."""

    lists: dict[str, Arguments] = field(default_factory=dict)
    arguments: dict[str, Argument] = field(default_factory=dict)
    returns: dict[str, Return] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    _library: list[SchemaCache] = field(default_factory=list)

    @property
    def library(self) -> SchemaCache:
        """The cache of schemas that are read by the rules of PyTorch's runtime, which take more."""
        if not self._library:
            self._library.append(SchemaCache())
        return self._library[0]


class TextReader:
    """Reads one text. Each method reads the characters `start` to `end`, and answers None if it
    reported anything about them."""

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
        code: Code,
        message: str,
        start: int,
        end: int,
        *,
        labels: Iterable[tuple[int, int, str]] = (),
        notes: Iterable[str] = (),
        hint: str | None = None,
        replacement: str | None = None,
    ) -> None:
        """Report the characters `start` to `end`; `replacement` is a certain mend of them.

        It is offered only where the characters stand in the source as they are, but for white space.
        """
        span = self._locate(start, end)
        placed = [(self._locate(begin, stop), text) for begin, stop, text in labels]
        text = self._text[start:end]
        is_blank = (span.text + text).isspace()
        # The last line end of a literal or folded text is not between two words.
        is_last = end == len(self._text) and "\n" in text
        is_sure = (span.text == text or is_blank) and not is_last
        fix = Edit(span, replacement) if replacement is not None and is_sure else None
        self._failed = True
        self._diagnostics.error(code, message, span, labels=placed, notes=notes, hint=hint, fix=fix)
