"""Values for pages: the matrix of operators and properties in HTML, and what is said of a property."""

from __future__ import annotations

import html

from opgen.diagnostics import describe
from opgen.emit.common.base import GeneratedFile, Record
from opgen.emit.reports.explain import build_code_page
from opgen.io.resources import templates_dir
from opgen.templating.render import Renderer
from opgen.verify import codes
from opgen.verify.runner.messages import (
    EXCLUDED,
    FAILED,
    NOT_APPLICABLE,
    NOT_TESTED,
    PASSED,
    OperatorReport,
)
from opgen.verify.runner.session import Verification, counts

# The class and the sign of a cell.
_CELLS = {
    PASSED: ("held", "✓"),
    FAILED: ("violated", "✗"),
    NOT_TESTED: ("untested", "?"),
    NOT_APPLICABLE: ("none", "·"),
    EXCLUDED: ("excluded", "–"),
    "": ("none", ""),
}


class Cell(Record, frozen=True):
    """One property of one operator. `content` is HTML: a sign, which leads to the finding if there is one."""

    kind: str
    content: str
    title: str


class Row(Record, frozen=True):
    name: str
    kind: str
    cells: tuple[Cell, ...]


class Column(Record, frozen=True):
    name: str
    code: str
    title: str


class Family(Record, frozen=True):
    title: str
    width: int


class Found(Record, frozen=True):
    """A finding, with the anchor that its cell leads to."""

    anchor: str
    operator: str
    code: str
    property: str
    message: str
    call: str
    program: str


class MatrixPage(GeneratedFile, frozen=True):
    title: str
    summary: str
    families: tuple[Family, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    findings: tuple[Found, ...]
    untested: tuple[str, ...]


def render_html(found: Verification) -> str:
    """Return one page with the matrix of operators by properties, and the findings below it."""
    return Renderer(templates_dir() / "text").render(_matrix(found))


def _matrix(found: Verification) -> MatrixPage:
    asked = {v.property for report in found.operators for v in report.verdicts}
    names = [name for name in codes.PROPERTIES if name in asked]
    total = counts(found.operators)
    summary = ", ".join(
        f"{total.get(status, 0)} {text}"
        for status, text in (
            (FAILED, "violated"),
            (PASSED, "hold"),
            (NOT_TESTED, "not tested"),
            (EXCLUDED, "excluded by the author"),
            (NOT_APPLICABLE, "do not apply"),
        )
    )
    reasons: dict[str, int] = {}
    for report in found.operators:
        for verdict in report.verdicts:
            if verdict.status == NOT_TESTED:
                text = f"{verdict.property}: {verdict.reason}"
                reasons[text] = reasons.get(text, 0) + 1
    return MatrixPage(
        "verify.html",
        "verify.html.j2",
        f"opgen verify: {len(found.operators)} operators",
        html.escape(
            f"{summary}; {found.seconds:.0f} s, seed {found.request.seed}, {found.request.mode}"
        ),
        tuple(
            Family(title, width)
            for prefix, title in codes.FAMILIES
            if (width := sum(codes.PROPERTIES[n].startswith(prefix) for n in names))
        ),
        tuple(
            Column(name, (code := codes.PROPERTIES[name]), html.escape(describe(code).title))
            for name in names
        ),
        tuple(_row(report, names) for report in found.operators),
        tuple(each for report in found.operators for each in _found(report)),
        tuple(
            html.escape(f"{count} × {text}")
            for text, count in sorted(reasons.items(), key=lambda item: -item[1])
        ),
    )


def _row(report: OperatorReport, names: list[str]) -> Row:
    cells = []
    for name in names:
        verdict = report.verdict(name)
        status = "" if verdict is None else verdict.status
        kind, sign = _CELLS[status]
        title = f"{report.name}, {name}: {status}"
        if verdict is not None:
            more = verdict.reason or (f"{verdict.count} calls" if verdict.count else "")
            title += f" ({more})" if more else ""
        if status == FAILED:
            sign = f'<a href="#{_anchor(report.name, name)}">{sign}</a>'
        cells.append(Cell(kind, sign, html.escape(title)))
    failed = any(v.status == FAILED for v in report.verdicts)
    return Row(html.escape(report.name), "violated" if failed else "held", tuple(cells))


def _anchor(operator: str, name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in f"{operator}-{name}")


def _found(report: OperatorReport) -> list[Found]:
    return [
        Found(
            _anchor(report.name, verdict.property),
            html.escape(report.name),
            codes.PROPERTIES[verdict.property],
            verdict.property,
            html.escape(shown.message),
            html.escape(shown.call),
            html.escape(shown.program),
        )
        for verdict in report.verdicts
        if verdict.status == FAILED
        for shown in verdict.findings
    ]


def explain_property(code: str) -> str | None:
    """Return the page of a property, by its code or its name; None if there is no such property."""
    code = codes.PROPERTIES.get(code, code)
    if code not in codes.NAMES:
        return None
    return Renderer(templates_dir() / "text").render(build_code_page(describe(code)))
