"""Diagnostics as text for people: the line that each is about, with carets under the place.

error[E0307]: unknown type 'Tensr'
  --> native_functions.yaml:12:13
   |
12 | - func: add(Tensr self, Tensor other) -> Tensor
   |             ^^^^^ did you mean 'Tensor'?
   = note: opgen explain E0307
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opgen.diagnostics.diagnostic import Diagnostic, Severity
from opgen.diagnostics.source import Source, Span

# A line longer than this is shown in part.
_MAX_LINE = 400
_BEFORE = 80

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_BLUE = "\x1b[1;34m"
_COLORS = {Severity.error: "\x1b[1;31m", Severity.warning: "\x1b[1;33m"}


def render_human(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """All of them, with an empty line between two. `color` adds ANSI escapes."""
    paint = _Paint(color)
    return "\n".join("\n".join(_lines(item, paint)) + "\n" for item in diagnostics)


@dataclass(frozen=True, slots=True)
class _Paint:
    color: bool

    def __call__(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self.color and text else text


def _lines(item: Diagnostic, paint: _Paint) -> Iterator[str]:
    strong = _COLORS[item.severity]
    head = paint(strong, f"{item.severity.value}[{item.code}]")
    yield f"{head}{paint(_BOLD, f': {_visible(item.message)}')}"
    width = _gutter_width(item)
    bar = paint(_BLUE, f"{'':{width}} |")
    if item.span is not None:
        yield f"{' ' * width}{paint(_BLUE, '-->')} {_visible(_place(item.span))}"
        yield bar
        yield from _snippet(item.span, item.hint or "", "^", width, strong, paint)
        shown = item.span
        for span, text in item.labels:
            lines = list(_snippet(span, text, "-", width, _BLUE, paint))
            if _line_of(span) == _line_of(shown):
                # The line itself stands there already.
                yield lines[1]
                continue
            if span.source is not shown.source:
                yield f"{' ' * width}{paint(_BLUE, ':::')} {_place(span)}"
            yield bar
            yield from lines
            shown = span
    elif item.hint:
        yield f"{' ' * width} {paint(_BLUE, '=')} help: {_visible(item.hint)}"
    for note in (*item.notes, f"opgen explain {item.code}"):
        yield f"{' ' * width} {paint(_BLUE, '=')} note: {_visible(note)}"


def _visible(text: str) -> str:
    """A line as it may go to a terminal: what is in a file must not command it."""
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)


def _gutter_width(item: Diagnostic) -> int:
    spans = [span for span, _ in item.labels] + ([item.span] if item.span is not None else [])
    return max((len(str(s.source.location(s.start).line)) for s in spans), default=1)


def _line_of(span: Span) -> tuple[int, int]:
    return id(span.source), span.source.location(span.start).line


def _place(span: Span) -> str:
    location = span.source.location(span.start)
    return f"{span.source.path}:{location.line}:{location.column}"


def _snippet(
    span: Span, text: str, mark: str, width: int, style: str, paint: _Paint
) -> Iterator[str]:
    number, line, start, end = _shown(span.source, span)
    before = "".join("\t" if c == "\t" else " " * _columns(c) for c in line[:start])
    marks = mark * max(1, sum(_columns(c) for c in line[start:end]))
    gutter = paint(_BLUE, f"{number:>{width}} |")
    yield f"{gutter} {_visible(line)}".rstrip()
    bar = paint(_BLUE, f"{'':{width}} |")
    yield f"{bar} {before}{paint(style, f'{marks} {_visible(text)}'.rstrip())}"


def _shown(source: Source, span: Span) -> tuple[int, str, int, int]:
    """The line's number, its text, and where in it the span begins and ends.

    Of a span over several lines the first is shown, and of a very long line a part.
    """
    location = source.location(span.start)
    line = source.line_text(location.line)
    start = min(location.column - 1, len(line))
    end = min(start + span.end - span.start, len(line))
    if len(line) > _MAX_LINE:
        cut = max(0, start - _BEFORE)
        line, start, end = line[cut : cut + _MAX_LINE], start - cut, min(end - cut, _MAX_LINE)
    return location.line, line, start, end


def _columns(character: str) -> int:
    """How many columns of a terminal it takes."""
    # Enclosing marks have no combining class, but stand around the character before them all the same.
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
