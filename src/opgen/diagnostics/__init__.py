"""Errors and warnings as values, the mistake, its place and the remedy, and the object that collects them.

A code is a text such as `E0402`: the letter is its severity, and docs/reference/diagnostics.md is the source of everything
else that is known about it. Codes with V are properties that `opgen verify` checks.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache, cached_property, wraps
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypedDict, TypeVar

from msgspec import Struct, field

from opgen import data

if TYPE_CHECKING:
    from typing_extensions import Unpack

_T = TypeVar("_T")
_LINE_END = re.compile(r"\r\n?|\n")


class Location(Struct, frozen=True):
    """A line and a column (in characters), both counted from 1."""

    line: int
    column: int


class Source(Struct, frozen=True, eq=False, dict=True):
    """An input text and its path in messages. Sources are compared by identity.

    `sha256` is the digest of the file's bytes, which cannot be computed from the text (a BOM, bytes that are not
    UTF-8); None if the text is not from a file.
    """

    path: str
    text: str
    sha256: str | None = None

    def __repr__(self) -> str:
        return f"Source({self.path!r})"

    @property
    def start(self) -> Span:
        """The point before the first character, for problems of the whole text."""
        return Span(self, 0, 0)

    def line_starts(self) -> array[int]:
        """Return the offset of the first character of each line. `\\n`, `\\r\\n` and `\\r` end a line."""
        return self._line_starts

    @cached_property
    def _line_starts(self) -> array[int]:
        # An array: ten million empty lines take 80 MB, and 400 MB as a list.
        return array("Q", _line_starts(self.text))

    def location(self, offset: int) -> Location:
        """Return the line and column of a character."""
        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return Location(line, offset - starts[line - 1] + 1)

    def remember(self, offset: int, work_out: Callable[[], _T]) -> _T:
        """Return `work_out()`, which computes something about the text at `offset`; cache it for the next call.

        Only the last offset is cached, since the errors of one text are reported in succession. Callers ask for one
        kind of result at each offset.
        """
        if not self._remembered or self._remembered[0][0] != offset:
            self._remembered[:] = [(offset, work_out())]
        answer: _T = self._remembered[0][1]  # type: ignore[assignment]
        return answer

    @cached_property
    def _remembered(self) -> list[tuple[int, object]]:
        """The offset and the result of the last call of `remember`; empty before the first."""
        return []

    def line_text(self, line: int) -> str:
        """Return the text of a line, counted from 1, without its line end."""
        starts = self.line_starts()
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")


def _line_starts(text: str) -> Iterator[int]:
    yield 0
    yield from (found.end() for found in _LINE_END.finditer(text))


class Span(Struct, frozen=True):
    """The characters `start` to `end` (exclusive) of a source. An empty span is a point."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of the span."""
        return self.source.text[self.start : self.end]

    @property
    def place(self) -> str:
        """The file, line and column of the start, as in `ops.yaml:3:10`."""
        location = self.source.location(self.start)
        return f"{self.source.path}:{location.line}:{location.column}"

    def overlaps(self, other: Span) -> bool:
        """Return whether both have a character in common, or one is a point inside of or next to the other."""
        if self.source is not other.source:
            return False
        return self.start <= other.end and other.start <= self.end


class Located:
    """A base class for structs with a position in a file, which `==` and `hash` ignore.

    It comes before `Struct` in the list of bases. `_places` names the fields that `==` and `hash` ignore.
    """

    __slots__ = ()

    __struct_fields__: ClassVar[tuple[str, ...]]
    _places: ClassVar[tuple[str, ...]] = ("span",)

    def _compared(self) -> tuple[object, ...]:
        names = (name for name in self.__struct_fields__ if name not in self._places)
        return tuple([getattr(self, name) for name in names])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Located) or type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self), self._compared()))


_DIAGNOSTICS, _PROPERTIES = "reference/diagnostics", "reference/verify-properties"
# A fenced block: its language, its title if it has one, and its text.
BLOCK = re.compile(r"^```(\w+)(?: title=\"(.*)\")?\n((?:.*\n)*?)```\n", re.MULTILINE)
_ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|\n)")


class Example(Struct, frozen=True):
    """Contents of a file: the shortest that is reported, and the same after the fix.

    `read` is the name of the file and, in parentheses, the options with which it is reported. `report` is the text
    that people see, empty if the page does not show it.
    """

    failing: str
    fixed: str
    read: str = "native_functions.yaml"
    report: str = ""


class Code(Struct, frozen=True):
    """What is known about a diagnostic code; `opgen explain CODE` prints it.

    `example` is None where no short file is reported. `scope` says for which operators or target the code is
    reported, and is empty if it is for all.
    """

    code: str
    title: str
    explanation: str
    example: Example | None = None
    scope: str = ""

    def __str__(self) -> str:
        return self.code


def known_codes() -> Collection[str]:
    """Return all codes of errors and warnings, in the order of the page."""
    return _sections(_DIAGNOSTICS).keys()


@cache
def describe(code: str) -> Code:
    """Return what is known about a code. Raises KeyError if there is no such code."""
    text = _sections(_PROPERTIES if code.startswith("V") else _DIAGNOSTICS)[code]
    title, *paragraphs = BLOCK.split(text)[0].strip().split("\n\n")
    words = [" ".join(paragraph.split()) for paragraph in paragraphs]
    example = None
    if words[-1] == "Reported:":
        (failing, *report, fixed), words = list(BLOCK.finditer(text)), words[:-1]
        words += text[fixed.end() :].split("\n")
        texts = unescaped(failing), unescaped(fixed)
        example = Example(*texts, title_of(failing), "".join(block[3] for block in report))
    scope = [word for word in words if word.startswith("Reported for ")]
    explanation = "\n\n".join(word for word in words if word and word not in scope)
    return Code(code, title.strip("*."), explanation, example, "".join(scope))


def title_of(block: re.Match[str]) -> str:
    """Return the name of the file in a fenced block and the options with which it is read."""
    title = (block[2] or "native_functions.yaml").replace(", escaped)", ")")
    return title.removesuffix(" (escaped)")


def unescaped(block: re.Match[str]) -> str:
    r"""Return the text of a fenced block. In one that is escaped, `\xNN` is a byte, and a `\` hides the end of a line."""
    if not (block[2] or "").endswith("escaped)"):
        return block[3]
    content = _ESCAPE.sub(lambda m: bytes.fromhex((m[1] or b"").decode()), block[3].encode())
    return content.decode("utf-8", "surrogateescape")


@cache
def _sections(page: str) -> Mapping[str, str]:
    sections = re.split(r"^### ", data.read_page(page), flags=re.MULTILINE)[1:]
    # The heading is the code, in the page of properties with a name; the next subject may follow the last paragraph.
    return {text[:5]: text.partition("\n\n")[2].partition("\n## ")[0] for text in sections}


# More errors than a person reads. The limit bounds the time that any input takes.
MAX_ERRORS = 1000

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Nothing = TypeVar("_Nothing")


class Severity(Enum):
    """Errors stop generation; warnings do not."""

    error = "error"
    warning = "warning"


class Edit(Struct, frozen=True):
    """A fix that is certain to be right: replace the text at `span` with `replacement`."""

    span: Span
    replacement: str


class Diagnostic(Struct, frozen=True):
    """One problem. `hint` is short and is shown at the caret; `notes` are sentences shown below.

    `labels` mark related places. `span` is None only if there is no place to show, as for a file that
    cannot be read.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None
    labels: tuple[tuple[Span, str], ...] = ()
    notes: tuple[str, ...] = ()
    hint: str | None = None
    fix: Edit | None = None

    @property
    def record(self) -> Code:
        """What `opgen explain` prints for the code."""
        return describe(self.code)


class Details(TypedDict, total=False):
    """What a report may have besides its code, message and place; see `Diagnostic`."""

    labels: Iterable[tuple[Span, str]]
    notes: Iterable[str]
    hint: str | None
    fix: Edit | None


def _diagnostic(
    severity: Severity, code: str, message: str, span: Span | None, details: Details
) -> Diagnostic:
    more = tuple(details.get("labels", ())), tuple(details.get("notes", ()))
    return Diagnostic(code, severity, message, span, *more, details.get("hint"), details.get("fix"))


class Diagnostics(Struct):
    """Collects problems in any order; `sorted()` returns them by file and position.

    After `most` errors, one more says so, and no further errors are accepted. Automatic fixes collect more errors
    than are shown.
    """

    most: int = MAX_ERRORS
    _items: list[Diagnostic] = field(default_factory=list)
    _errors: int = 0

    def error(self, code: str, message: str, span: Span | None, **details: Unpack[Details]) -> None:
        self.add(_diagnostic(Severity.error, code, message, span, details))

    def warning(
        self, code: str, message: str, span: Span | None, **details: Unpack[Details]
    ) -> None:
        self.add(_diagnostic(Severity.warning, code, message, span, details))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a problem. Raises TooManyErrors if there are `most` errors already; see `until_too_many`."""
        if diagnostic.severity is Severity.error:
            if self._errors >= self.most:
                raise TooManyErrors
            self._errors += 1
        self._items.append(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add problems that were collected separately."""
        for item in diagnostics:
            self.add(item)

    def forget(self, source: Source) -> None:
        """Remove the problems of `source`."""
        self._items = [i for i in self._items if i.span is None or i.span.source is not source]
        self._errors = len(self.errors())

    def remove(self, is_out: Callable[[Diagnostic], bool]) -> None:
        """Remove the warnings for which `is_out` returns true."""
        self._items = [i for i in self._items if i.severity is Severity.error or not is_out(i)]

    @property
    def has_errors(self) -> bool:
        return self._errors > 0

    @property
    def has_warnings(self) -> bool:
        return any(item.severity is Severity.warning for item in self._items)

    @property
    def error_count(self) -> int:
        return self._errors

    def errors(self) -> tuple[Diagnostic, ...]:
        """Return the errors, in any order."""
        return tuple(item for item in self._items if item.severity is Severity.error)

    def error_spans(self) -> tuple[Span, ...]:
        """Return the positions of the errors, in any order."""
        return tuple(item.span for item in self.errors() if item.span is not None)

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Return the problems by file in order of first mention, then by position and code; duplicates once."""
        rank: dict[int, int] = {}
        for item in self._items:
            if item.span is not None:
                rank.setdefault(id(item.span.source), len(rank))

        def key(item: Diagnostic) -> tuple[int, int, str, str]:
            if item.span is None:
                return (-1, -1, item.code, item.message)
            return (rank[id(item.span.source)], item.span.start, item.code, item.message)

        items = dict.fromkeys(sorted(self._items, key=key))
        if self._errors < self.most:
            return tuple(items)
        message = f"opgen stops after {self.most} errors"
        return (*items, Diagnostic("E0911", Severity.error, message, None))

    def shown(self) -> Diagnostics:
        """Return the problems that are shown: the first MAX_ERRORS errors by position, and all warnings."""
        if self._errors < MAX_ERRORS:
            return self
        found = Diagnostics()
        for item in self.sorted():
            if item.severity is not Severity.error or found.error_count < MAX_ERRORS:
                found.add(item)
        return found

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())

    def __len__(self) -> int:
        return len(self._items)


class TooManyErrors(Exception):
    """`Diagnostics.add` raises it when there are too many errors; `until_too_many` catches it."""


def until_too_many(
    nothing: Callable[[], _Nothing],
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result | _Nothing]]:
    """Decorate a stage so that it returns `nothing()` when there are too many errors to continue."""

    def decorate(
        stage: Callable[_Arguments, _Result],
    ) -> Callable[_Arguments, _Result | _Nothing]:
        @wraps(stage)
        def bounded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result | _Nothing:
            try:
                return stage(*args, **kwargs)
            except TooManyErrors:
                return nothing()

        return bounded

    return decorate


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 file", "2 files". `many` is the plural if that is not `one` with an s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


class OpgenError(Exception):
    """The input has errors. `diagnostics` holds all errors and warnings, sorted."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = next((d for d in self.diagnostics if d.severity is Severity.error), None)
        super().__init__(first.message if first is not None else "the input has errors")
