"""A problem as a value, and the collector that problems are put into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import wraps
from typing import ParamSpec, TypeVar

from opgen.dataclasses import dataclass, field
from opgen.diagnostics.codes import Code
from opgen.diagnostics.codes_limits import E0911
from opgen.diagnostics.source import Source, Span

# More errors than a person reads. Stopping there bounds the time that any bytes can take.
MAX_ERRORS = 1000

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Nothing = TypeVar("_Nothing")


class Severity(Enum):
    error = "error"
    warning = "warning"


@dataclass(frozen=True, slots=True)
class Edit:
    """A certain mend: `replacement` in the place of the text at `span`."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem. `hint` is short and stands at the caret; `notes` are sentences below.

    `labels` point at other places that have to do with it. `span` is None only if there is no
    place to show, such as a file that cannot be read.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None
    labels: tuple[tuple[Span, str], ...] = ()
    notes: tuple[str, ...] = ()
    hint: str | None = None
    fix: Edit | None = None


@dataclass(slots=True)
class Diagnostics:
    """Collects problems in any order; `sorted()` gives them back by file and position.

    After `most` errors there is a last one that says so, and no more. More of them than people are
    shown are for who mends them.
    """

    most: int = MAX_ERRORS
    _items: list[Diagnostic] = field(default_factory=list)
    _errors: int = 0

    def error(
        self,
        code: Code | str,
        message: str,
        span: Span | None,
        *,
        labels: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
        hint: str | None = None,
        fix: Edit | None = None,
    ) -> None:
        self.add(
            Diagnostic(
                str(code), Severity.error, message, span, tuple(labels), tuple(notes), hint, fix
            )
        )

    def warning(
        self,
        code: Code | str,
        message: str,
        span: Span | None,
        *,
        labels: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
        hint: str | None = None,
        fix: Edit | None = None,
    ) -> None:
        self.add(
            Diagnostic(
                str(code), Severity.warning, message, span, tuple(labels), tuple(notes), hint, fix
            )
        )

    def add(self, diagnostic: Diagnostic) -> None:
        """Raises TooManyErrors for an error after `most` of them; see `until_too_many`."""
        if diagnostic.severity is Severity.error:
            if self._errors >= self.most:
                raise TooManyErrors
            self._errors += 1
        self._items.append(diagnostic)

    def forget(self, source: Source) -> None:
        """Without what was said of `source`."""
        kept = [item for item in self._items if item.span is None or item.span.source is not source]
        self._errors = sum(1 for item in kept if item.severity is Severity.error)
        self._items = kept

    def remove(self, is_out: Callable[[Diagnostic], bool]) -> None:
        """Without the warnings that `is_out` answers yes for."""
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
        """The errors that were reported, in any order."""
        return tuple(item for item in self._items if item.severity is Severity.error)

    def error_spans(self) -> tuple[Span, ...]:
        """Where the errors are, in any order."""
        return tuple(item.span for item in self.errors() if item.span is not None)

    def sorted(self) -> tuple[Diagnostic, ...]:
        """By file in order of first mention, then position, then code; duplicates once."""
        rank: dict[int, int] = {}
        for item in self._items:
            if item.span is not None:
                rank.setdefault(id(item.span.source), len(rank))

        def key(item: Diagnostic) -> tuple[int, int, str, str]:
            if item.span is None:
                return (-1, -1, item.code, item.message)
            return (rank[id(item.span.source)], item.span.start, item.code, item.message)

        last = (_stopped(self.most),) if self._errors >= self.most else ()
        return (*dict.fromkeys(sorted(self._items, key=key)), *last)

    def shown(self) -> Diagnostics:
        """As many as people are shown: the first errors by position, and the warnings."""
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


def _stopped(most: int) -> Diagnostic:
    message = f"{most} errors are reported; if there are more, they are not"
    return Diagnostic(str(E0911), Severity.error, message, None)


class TooManyErrors(Exception):
    """What `Diagnostics.add` raises when it holds enough errors; `until_too_many` ends it."""


def until_too_many(
    nothing: Callable[[], _Nothing],
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result | _Nothing]]:
    """A stage that ends early, with `nothing()`, when there are too many errors to go on."""

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


class OpgenError(Exception):
    """The input has errors. `diagnostics` holds all of them (and the warnings), sorted."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = next((d for d in self.diagnostics if d.severity is Severity.error), None)
        super().__init__(first.message if first is not None else "the input has errors")
