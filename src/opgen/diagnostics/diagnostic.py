"""A problem as a value, and the collector that problems are put into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from opgen.diagnostics.codes import Code
from opgen.diagnostics.source import Span


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
    """Collects problems in any order; `sorted()` gives them back by file and position."""

    _items: list[Diagnostic] = field(default_factory=list)

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
        self._items.append(diagnostic)

    @property
    def has_errors(self) -> bool:
        return any(item.severity is Severity.error for item in self._items)

    @property
    def has_warnings(self) -> bool:
        return any(item.severity is Severity.warning for item in self._items)

    @property
    def error_count(self) -> int:
        return sum(item.severity is Severity.error for item in self._items)

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

        return tuple(dict.fromkeys(sorted(self._items, key=key)))

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())

    def __len__(self) -> int:
        return len(self._items)


class OpgenError(Exception):
    """The input has errors. `diagnostics` holds all of them (and the warnings), sorted."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = next((d for d in self.diagnostics if d.severity is Severity.error), None)
        super().__init__(first.message if first is not None else "the input has errors")
