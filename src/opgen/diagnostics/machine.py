"""Print diagnostics for programs: JSON lines, and GitHub's workflow commands."""

from __future__ import annotations

import json
from collections.abc import Iterable

from opgen.diagnostics.diagnostic import Diagnostic
from opgen.diagnostics.human import visible
from opgen.diagnostics.source import Span


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
    properties = {"title": item.code}
    if item.span is not None:
        start = item.span.source.location(item.span.start)
        end = item.span.source.location(item.span.end)
        properties |= {
            "file": item.span.source.path,
            "line": str(start.line),
            "col": str(start.column),
            "endLine": str(end.line),
        }
        # GitHub accepts an end column only on the start line.
        if end.line == start.line:
            properties["endColumn"] = str(end.column)
    listed = ",".join(f"{name}={_escape(text, ':,')}" for name, text in properties.items())
    return f"::{item.severity.value} {listed}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in visible(text, "\r\n"))
