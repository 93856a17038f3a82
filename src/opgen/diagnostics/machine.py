"""Diagnostics for programs: JSON lines, GitHub's workflow commands, and SARIF 2.1.0."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from opgen.diagnostics.codes import Code
from opgen.diagnostics.diagnostic import Diagnostic
from opgen.diagnostics.source import Span

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """One object a line. Lines and columns (in characters) count from 1, ends are exclusive."""
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
    """A place as JSON: lines and columns count from 1, offsets from 0, ends are exclusive."""
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
    """Workflow commands that GitHub shows as annotations of the changed lines."""
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
        }
        # GitHub takes an end column for the start line only.
        if end.line == start.line:
            properties |= {"endLine": str(end.line), "endColumn": str(end.column)}
    listed = ",".join(f"{name}={_escape(text, ':,')}" for name, text in properties.items())
    return f"::{item.severity.value} {listed}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)


def render_sarif(diagnostics: Iterable[Diagnostic], codes: Mapping[str, Code]) -> str:
    """One run. `codes` supplies the rules; those that nothing was reported for are left out."""
    items = list(diagnostics)
    used = sorted({item.code for item in items})
    driver = {
        "name": "opgen",
        "rules": [_sarif_rule(codes[code]) for code in used if code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(item) for item in items],
    }
    log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _sarif_rule(code: Code) -> dict[str, object]:
    return {
        "id": code.code,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
    }


def _sarif_result(item: Diagnostic) -> dict[str, object]:
    text = ". ".join((item.message, *([item.hint] if item.hint else []), *item.notes))
    result: dict[str, object] = {
        "ruleId": item.code,
        "level": item.severity.value,
        "message": {"text": text},
    }
    if item.span is not None:
        result["locations"] = [_sarif_location(item.span)]
    if item.labels:
        result["relatedLocations"] = [
            {**_sarif_location(span), "id": i, "message": {"text": label}}
            for i, (span, label) in enumerate(item.labels, 1)
        ]
    return result


def _sarif_location(span: Span) -> dict[str, object]:
    start, end = span.source.location(span.start), span.source.location(span.end)
    region = {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }
    artifact = {"uri": span.source.path.replace("\\", "/")}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
