"""Print diagnostics for programs: JSON lines, GitHub's workflow commands, and SARIF 2.1.0 for code-scanning services.

Columns count UTF-16 code units, as editors and GitHub do. A fingerprint identifies the code and the text of the line
but not its number, so it stays the same when lines are added above.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from opgen.diagnostics.diagnostic import Code, Diagnostic, Edit, describe
from opgen.diagnostics.human import visible
from opgen.diagnostics.source import Source, Span


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
        "artifacts": [_artifact(source) for source in sources],
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
        failing, fixed = _fenced(code.example.failing), _fenced(code.example.fixed)
        markdown += f"\n\nReported:\n\n{failing}\n\nFixed:\n\n{fixed}"
    level = "warning" if code.code.startswith("W") else "error"
    return {
        "id": code.code,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
        "help": {"text": code.explanation, "markdown": markdown},
        "defaultConfiguration": {"level": level},
    }


def _fenced(text: str) -> str:
    return f"```yaml\n{text.rstrip()}\n```"


def _artifact(source: Source) -> dict[str, object]:
    artifact: dict[str, object] = {"location": _uri(source)}
    if source.sha256 is not None:
        artifact["hashes"] = {"sha-256": source.sha256}
    return artifact


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
