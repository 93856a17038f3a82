"""Print diagnostics for people, and for programs: as JSON lines, GitHub's workflow commands and SARIF 2.1.0.

error[E0307]: unknown type 'Tensr'
  --> native_functions.yaml:12:13
   |
12 | - func: add(Tensr self, Tensor other) -> Tensor
   |             ^^^^^ did you mean 'Tensor'?
   = note: opgen explain E0307

Columns count UTF-16 code units, as editors and GitHub do. A fingerprint identifies the code and the text of the line
but not its number, so it stays the same when lines are added above.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from msgspec import Struct

from opgen.diagnostics import Code, Diagnostic, Edit, Severity, Source, Span, counted, describe

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


class _Paint(Struct, frozen=True):
    color: bool

    def __call__(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self.color and text else text


def _lines(item: Diagnostic, paint: _Paint) -> Iterator[str]:
    strong = _COLORS[item.severity]
    head = paint(strong, f"{item.severity.value}[{item.code}]")
    yield f"{head}{paint(_BOLD, f': {visible(item.message)}')}"
    spans = [span for span in (item.span, *(span for span, _ in item.labels)) if span is not None]
    width = max((len(str(_lines_of(span)[2])) for span in spans), default=1)
    bar = paint(_BLUE, f"{'':{width}} |")
    if item.span is not None:
        yield f"{' ' * width}{paint(_BLUE, '-->')} {visible(item.span.place)}"
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
                yield f"{' ' * width}{paint(_BLUE, ':::')} {visible(span.place)}"
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


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one JSON object per line. Lines and columns (in characters) count from 1, ends are exclusive."""
    return "".join(f"{json.dumps(_as_object(item), ensure_ascii=False)}\n" for item in diagnostics)


def _as_object(item: Diagnostic) -> dict[str, object]:
    return {
        "code": item.code,
        "severity": item.severity.value,
        "message": item.message,
        "span": None if item.span is None else place_object(item.span),
        "labels": [{**place_object(span), "text": text} for span, text in item.labels],
        "notes": list(item.notes),
        "hint": item.hint,
        "fix": (
            None
            if item.fix is None
            else {**place_object(item.fix.span), "replacement": item.fix.replacement}
        ),
    }


def place_object(span: Span) -> dict[str, object]:
    """Return a place as JSON: lines and columns count from 1, offsets from 0, ends are exclusive."""
    start, end = span.source.location(span.start), span.source.location(span.end)
    return {
        "path": span.source.path,
        "start": span.start,
        "end": span.end,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
    }


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return workflow commands, which GitHub shows as annotations of the changed lines."""
    return "".join(f"{_command(item)}\n" for item in diagnostics)


def _command(item: Diagnostic) -> str:
    message = item.message if item.hint is None else f"{item.message} ({item.hint})"
    properties: dict[str, object] = {"title": item.code}
    if item.span is not None:
        at = place_object(item.span)
        properties |= {"file": at["path"], "line": at["line"], "col": at["column"]}
        properties["endLine"] = at["end_line"]
        # GitHub accepts an end column only on the start line.
        if at["end_line"] == at["line"]:
            properties["endColumn"] = at["end_column"]
    listed = ",".join(f"{name}={_escape(str(text), ':,')}" for name, text in properties.items())
    return f"::{item.severity.value} {listed}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in visible(text, "\r\n"))


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

# The base of relative paths. Readers of the log know where the checkout is.
_ROOT = "SRCROOT"
_FINGERPRINT = "opgenText/v1"


def render_sarif(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the log of one run. Its rules are the codes that were reported."""
    items = list(diagnostics)
    rules = sorted({item.code for item in items})
    sources = list(dict.fromkeys(source for item in items for source in _sources(item)))
    driver = {"name": "opgen", "rules": [_rule(describe(code)) for code in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder opgen ran in."}}},
        "artifacts": [
            {"location": _uri(source)}
            | ({} if source.sha256 is None else {"hashes": {"sha-256": source.sha256}})
            for source in sources
        ],
        "results": list(_results(items, rules, sources)),
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    text = json.dumps(log, indent=2, ensure_ascii=False)
    # A lone surrogate, which represents a byte that is not UTF-8, cannot be encoded.
    return text.encode("utf-8", "replace").decode() + "\n"


def _sources(item: Diagnostic) -> Iterator[Source]:
    if item.span is not None:
        yield item.span.source
    yield from (span.source for span, _ in item.labels)
    if item.fix is not None:
        yield item.fix.span.source


def _rule(code: Code) -> dict[str, object]:
    markdown = code.explanation
    if code.example is not None:
        for what, text in (("Reported", code.example.failing), ("Fixed", code.example.fixed)):
            markdown += f"\n\n{what}:\n\n```yaml\n{text.rstrip()}\n```"
    level = "warning" if code.code.startswith("W") else "error"
    return {
        "id": code.code,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
        "help": {"text": code.explanation, "markdown": markdown},
        "defaultConfiguration": {"level": level},
    }


def _uri(source: Source) -> dict[str, object]:
    path = PurePath(source.path)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    # Bytes of a name that are not UTF-8 are quoted one by one.
    return {"uri": quote(os.fsencode(path.as_posix())), "uriBaseId": _ROOT}


def _results(
    items: Iterable[Diagnostic], rules: Sequence[str], sources: Sequence[Source]
) -> Iterator[dict[str, object]]:
    seen: Counter[str] = Counter()
    rank = {rule: i for i, rule in enumerate(rules)}
    index = {id(source): i for i, source in enumerate(sources)}
    for item in items:
        text = ". ".join((item.message, *([item.hint] if item.hint else []), *item.notes))
        result: dict[str, object] = {
            "ruleId": item.code,
            "level": item.severity.value,
            "message": {"text": text},
        }
        if item.code in rank:
            result["ruleIndex"] = rank[item.code]
        if item.span is not None:
            result["locations"] = [_location(item.span, index)]
        if item.labels:
            result["relatedLocations"] = [
                {**_location(span, index), "id": i, "message": {"text": label}}
                for i, (span, label) in enumerate(item.labels, 1)
            ]
        print_of = _fingerprint(item)
        seen[print_of] += 1
        result["partialFingerprints"] = {_FINGERPRINT: f"{print_of}:{seen[print_of]}"}
        if item.fix is not None:
            result["fixes"] = [_fix(item.fix, index)]
        yield result


def _fingerprint(item: Diagnostic) -> str:
    """Return a digest of the code, the file and the line's text. Equal digests are numbered by their order."""
    parts = [item.code, item.message]
    if item.span is not None:
        source = item.span.source
        line = source.line_text(source.location(item.span.start).line)
        parts = [item.code, PurePath(source.path).as_posix(), line.strip(), item.span.text]
    text = "\0".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:16]


def _fix(edit: Edit, index: Mapping[int, int]) -> dict[str, object]:
    place = {**_uri(edit.span.source), "index": index[id(edit.span.source)]}
    replacement = {
        "deletedRegion": _region(edit.span),
        "insertedContent": {"text": edit.replacement},
    }
    description = (
        f"Write '{edit.replacement}'" if edit.replacement else f"Remove '{edit.span.text}'"
    )
    return {
        "description": {"text": description},
        "artifactChanges": [{"artifactLocation": place, "replacements": [replacement]}],
    }


def _location(span: Span, index: Mapping[int, int]) -> dict[str, object]:
    place = {**_uri(span.source), "index": index[id(span.source)]}
    return {"physicalLocation": {"artifactLocation": place, "region": _region(span)}}


def _region(span: Span) -> dict[str, object]:
    start_line, start = _utf16(span.source, span.start)
    end_line, end = _utf16(span.source, span.end)
    return {"startLine": start_line, "startColumn": start, "endLine": end_line, "endColumn": end}


def _utf16(source: Source, offset: int) -> tuple[int, int]:
    """Return the line and column, counted from 1; a character beyond U+FFFF counts as two columns."""
    place = source.location(offset)
    before = source.text[offset - place.column + 1 : offset]
    return place.line, place.column + sum(1 for c in before if ord(c) > 0xFFFF)
