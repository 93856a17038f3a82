"""A verification for programs: JSON, JUnit's XML, SARIF and GitHub's annotations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from opgen.diagnostics import (
    Diagnostics,
    Source,
    Span,
    render_github,
    render_sarif,
)
from opgen.verify import codes
from opgen.verify.runner.messages import (
    EXCLUDED,
    FAILED,
    NOT_APPLICABLE,
    NOT_TESTED,
    OperatorReport,
    Verdict,
)
from opgen.verify.runner.session import Verification, counts

_VERSION = 1


def render_json(found: Verification) -> str:
    """Return everything as one JSON object; `version` is that of its form."""
    content = {
        "version": _VERSION,
        "seed": found.request.seed,
        "mode": found.request.mode,
        "seconds": round(found.seconds, 3),
        "memory_watched": found.has_guard,
        "counts": counts(found.operators),
        "properties": codes.PROPERTIES,
        "operators": found.operators,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1).decode() + "\n"


def render_junit(found: Verification) -> str:
    """Return a suite for each operator, and a case for each property that applies to it."""
    root = ElementTree.Element("testsuites", name="opgen verify")
    for report in found.operators:
        cases = [v for v in report.verdicts if v.status != NOT_APPLICABLE]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=report.name,
            tests=str(len(cases)),
            failures=str(sum(v.status == FAILED for v in cases)),
            skipped=str(sum(v.status in (NOT_TESTED, EXCLUDED) for v in cases)),
            time=f"{report.seconds:.3f}",
        )
        for verdict in cases:
            _case(suite, report, verdict)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, report: OperatorReport, verdict: Verdict) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=report.name, name=verdict.property)
    if verdict.status == FAILED:
        for shown in verdict.findings:
            failure = ElementTree.SubElement(case, "failure", message=_printable(shown.message))
            failure.text = _printable(shown.program)
    elif verdict.status in (NOT_TESTED, EXCLUDED):
        ElementTree.SubElement(case, "skipped", message=_printable(verdict.reason))


def _printable(text: str) -> str:
    """Return the text without characters that XML does not have."""
    return "".join(c for c in text if c in "\t\n" or c >= " ")


def findings(found: Verification) -> Diagnostics:
    """Return the findings as diagnostics, at the lines of their entries."""
    diagnostics = Diagnostics(most=1_000_000)
    sources: dict[str, Source] = {}
    for report in found.operators:
        span = _span(report, sources)
        for verdict, text in _messages(report):
            diagnostics.error(
                codes.PROPERTIES[verdict.property],
                f"{report.name}: {verdict.property}: {text}",
                span,
            )
    return diagnostics


def _messages(report: OperatorReport) -> Iterator[tuple[Verdict, str]]:
    for verdict in report.verdicts:
        if verdict.status == FAILED:
            for shown in verdict.findings:
                call = f" (in a call with {shown.call})" if shown.call else ""
                yield verdict, f"{shown.message}{call}"


def _span(report: OperatorReport, sources: dict[str, Source]) -> Span | None:
    if not report.file:
        return None
    if report.file not in sources:
        text = ""
        with contextlib.suppress(OSError):
            text = Path(report.file).read_text(encoding="utf-8", errors="replace")
        sources[report.file] = Source(report.file, text)
    source = sources[report.file]
    starts = source.line_starts()
    if not 0 < report.line <= len(starts):
        return Span(source, 0, 0)
    start = starts[report.line - 1]
    return Span(source, start, start + len(source.line_text(report.line)))


def render_findings_sarif(found: Verification) -> str:
    """Return the findings as a SARIF log."""
    return render_sarif(findings(found))


def render_findings_github(found: Verification) -> str:
    """Return the findings as GitHub's workflow commands."""
    return render_github(findings(found))


__all__ = [
    "render_findings_github",
    "render_findings_sarif",
    "render_json",
    "render_junit",
]
