"""Print diagnostics for people: the source line of each, with carets below the place.

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

from msgspec import Struct

from opgen.diagnostics.diagnostic import Diagnostic, Severity
from opgen.diagnostics.source import Span

# A line longer than this is shown in part.
_MAX_LINE = 400
_BEFORE = 80
_CHUNK = 4096

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_BLUE = "\x1b[1;34m"
_COLORS = {Severity.error: "\x1b[1;31m", Severity.warning: "\x1b[1;33m"}


def render_human(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Return all diagnostics, separated by empty lines. `color` adds ANSI escapes."""
    paint = _Paint(color)
    return "\n".join("\n".join(_lines(item, paint)) + "\n" for item in diagnostics)


def summarize(diagnostics: Iterable[Diagnostic], *, hint_fix: bool = False) -> str:
    """Return the number of problems, as in "3 errors, 2 warnings in 2 files"; empty if there are none.

    With `hint_fix`, also how many of them `opgen lint --fix` would solve.
    """
    items = tuple(item for item in diagnostics if item.code != "E0911")
    errors = sum(1 for item in items if item.severity is Severity.error)
    counts = ((errors, "error"), (len(items) - errors, "warning"))
    text = ", ".join(counted(number, word) for number, word in counts if number)
    files = len({item.span.source.path for item in items if item.span is not None})
    if files:
        text += f" in {counted(files, 'file')}"
    fixes = sum(1 for item in items if item.fix is not None) if hint_fix else 0
    return f"{text}; {fixes} can be fixed with --fix" if fixes else text


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 file", "2 files". `many` is the plural if that is not `one` with an s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


class _Paint(Struct, frozen=True):
    color: bool

    def __call__(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self.color and text else text


def _lines(item: Diagnostic, paint: _Paint) -> Iterator[str]:
    strong = _COLORS[item.severity]
    head = paint(strong, f"{item.severity.value}[{item.code}]")
    yield f"{head}{paint(_BOLD, f': {visible(item.message)}')}"
    width = _gutter_width(item)
    bar = paint(_BLUE, f"{'':{width}} |")
    if item.span is not None:
        yield f"{' ' * width}{paint(_BLUE, '-->')} {visible(_place(item.span))}"
        yield bar
        yield from _snippet(item.span, item.hint or "", "^", width, strong, paint)
        shown = item.span
        for span, text in item.labels:
            lines = list(_snippet(span, text, "-", width, _BLUE, paint))
            if _lines_of(span) == _lines_of(shown) and len(lines) == 2:
                # The line itself is already printed.
                yield lines[1]
                continue
            if span.source is not shown.source:
                yield f"{' ' * width}{paint(_BLUE, ':::')} {visible(_place(span))}"
            yield bar
            yield from lines
            shown = span
    elif item.hint:
        yield f"{' ' * width} {paint(_BLUE, '=')} help: {visible(item.hint)}"
    for note in (*item.notes, f"opgen explain {item.code}"):
        yield f"{' ' * width} {paint(_BLUE, '=')} note: {visible(note)}"


def visible(text: str, also: str = "") -> str:
    """Return a line that is safe for a terminal or a log: without control characters of the file, except tabs and `also`."""
    return "".join(c if c.isprintable() or c in f"\t{also}" else "\ufffd" for c in text)


def _gutter_width(item: Diagnostic) -> int:
    spans = [span for span, _ in item.labels] + ([item.span] if item.span is not None else [])
    return max((len(str(_lines_of(s)[2])) for s in spans), default=1)


def _lines_of(span: Span) -> tuple[int, int, int]:
    """Return the source, and the numbers of the first and the last line to print."""
    first = span.source.location(span.start).line
    last = span.source.location(max(span.start, _text_end(span) - 1)).line
    return id(span.source), first, last


def _text_end(span: Span) -> int:
    """Return the end of the span, without trailing white space."""
    end = span.end
    while end > span.start:
        begin = max(span.start, end - _CHUNK)
        kept = len(span.source.text[begin:end].rstrip())
        if kept:
            return begin + kept
        end = begin
    return span.end


def _place(span: Span) -> str:
    location = span.source.location(span.start)
    return f"{span.source.path}:{location.line}:{location.column}"


def _snippet(
    span: Span, text: str, mark: str, width: int, style: str, paint: _Paint
) -> Iterator[str]:
    """Yield the line with marks below it; for several lines, the first and the last, joined at the left."""
    _, first, last = _lines_of(span)
    source = span.source
    start = source.location(span.start).column - 1
    bar = paint(_BLUE, f"{'':{width}} |")
    label = f" {visible(text)}".rstrip()
    if first == last:
        line = source.line_text(first)
        size = span.end - span.start
        if start + size > len(line):
            size = _text_end(span) - span.start
        line, start, end = _shown(line, start, start + size)
        before = "".join("\t" if c == "\t" else " " * _columns(c) for c in line[:start])
        marks = mark * max(1, _width(line[start:end]))
        yield f"{_numbered(first, width, paint)} {visible(line)}".rstrip()
        yield f"{bar} {before}{paint(style, marks + label)}"
        return
    line, start, _ = _shown(source.line_text(first), start, start + 1)
    if line[:start].strip(" "):
        yield f"{_numbered(first, width, paint)}   {_flat(line)}"
        yield f"{bar} {paint(style, f' {_corner(_flat(line[:start]))}{mark}')}"
    else:
        yield f"{_numbered(first, width, paint)} {paint(style, '/')} {_flat(line)}"
    side = paint(style, "|")
    if last - first > 2:
        yield f"{'...':{width + 2}} {side}"
    elif last - first == 2:
        between = _shown(source.line_text(first + 1), 0, 0)[0]
        yield f"{_numbered(first + 1, width, paint)} {side} {_flat(between)}".rstrip()
    end = source.location(_text_end(span) - 1).column
    line, _, end = _shown(source.line_text(last), end - 1, end)
    yield f"{_numbered(last, width, paint)} {side} {_flat(line)}"
    yield f"{bar} {paint(style, f'|{_corner(_flat(line[: end - 1]))}{mark}{label}')}"


def _numbered(number: int, width: int, paint: _Paint) -> str:
    return paint(_BLUE, f"{number:>{width}} |")


def _corner(before: str) -> str:
    """Return the line below `before` that leads to the mark after it."""
    return "_" * (1 + _width(before))


def _flat(line: str) -> str:
    """Return a line that is safe for a terminal, with tabs as spaces, so that marks below it are aligned."""
    return visible(line).replace("\t", " ")


def _shown(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Return the part of the line to print, and the positions of `start` and `end` in it."""
    start, end = min(start, len(line)), min(end, len(line))
    if len(line) > _MAX_LINE:
        cut = max(0, start - _BEFORE)
        line, start, end = line[cut : cut + _MAX_LINE], start - cut, min(end - cut, _MAX_LINE)
    return line, start, end


def _width(text: str) -> int:
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    """Return how many columns of a terminal the string takes."""
    # Enclosing marks have no combining class, but take no column either.
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
