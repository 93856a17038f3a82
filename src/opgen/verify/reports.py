"""Reports of a verification: for people, for machines (JSON, JUnit, SARIF, GitHub), and as an HTML page."""

from __future__ import annotations

import contextlib
import html
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from opgen.data import templates_dir
from opgen.diagnostics import (
    Diagnostics,
    Source,
    Span,
    counted,
    describe,
)
from opgen.emit.common.base import GeneratedFile, Record, generated
from opgen.emit.reports.explain import build_code_page
from opgen.templating.render import Renderer
from opgen.verify import codes
from opgen.verify.runner.messages import (
    EXCLUDED,
    FAILED,
    NOT_APPLICABLE,
    NOT_TESTED,
    PASSED,
    OperatorReport,
    Verdict,
)
from opgen.verify.runner.session import Verification, counts
from opgen.verify.subjects import CALLS, CONCURRENT, LARGE, STRIDED

_WIDTH = 116
_RED, _GREEN, _YELLOW, _BOLD, _RESET = "\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
# Reasons that are listed, of all for which something was not tested.
_MOST_REASONS = 8


def render_terminal(found: Verification, *, color: bool = False) -> str:
    """Return the findings, what was not tested, and a summary."""
    findings = (render_findings(report, color=color) for report in found.operators)
    return "".join([*findings, render_rest(found, color=color)])


def render_findings(report: OperatorReport, *, color: bool = False) -> str:
    """Return the findings of one operator, each with an empty line behind it.

    A call that reads or writes what it should not returns something else each time: what follows from that is named only.
    """
    own, follows = split_findings(report)
    lines = [line for v in own for line in _finding(report, v, color)]
    if follows:
        root = own[0]
        names = ", ".join(f"{codes.PROPERTIES[v.property]} {v.property}" for v in follows)
        text = f"{report.name}: also violated, perhaps because of {root.property}: {names}"
        lines += [*textwrap.wrap(text, _WIDTH, subsequent_indent="  "), ""]
    return "".join(f"{line}\n" for line in lines)


def split_findings(report: OperatorReport) -> tuple[list[Verdict], list[Verdict]]:
    """Return the violated properties, a root cause first, and those that may follow from it."""
    failed = [v for v in report.verdicts if v.status == FAILED]
    root = next((v for name in _ROOTS for v in failed if v.property == name), None)
    follows = [v for v in failed if v is not root and root and _can_follow(v)]
    own = [v for v in failed if v not in follows]
    return sorted(own, key=lambda v: v is not root), follows


# What makes results differ from call to call, and the families of properties that then compare nothing.
_ROOTS = ("write-beyond", "read-beyond", "uninitialised", "crash")
_FAMILIES = ("V010", "V011", "V012", "V014", "V015", "V017", "V019")


def _can_follow(verdict: Verdict) -> bool:
    return codes.PROPERTIES[verdict.property].startswith(_FAMILIES)


def render_rest(found: Verification, *, color: bool = False) -> str:
    """Return what was not tested, which operators are not certified, and a summary."""
    return "\n".join(
        [*_untested(found, color), *_uncertified(found, color), _summary(found, color)]
    )


# An operator is certified if no property is violated, and so many of its accepted calls were of each kind.
_ENOUGH = {CALLS: 50, LARGE: 20, STRIDED: 4}


def lacking(report: OperatorReport) -> list[str]:
    """Return what an operator lacks for a certificate, in words; nothing if it is certified."""
    failed = sum(v.status == FAILED for v in report.verdicts)
    found = [f"{counted(failed, 'property', 'properties')} violated"] if failed else []
    wanted = _ENOUGH if report.takes_tensors else {CALLS: _ENOUGH[CALLS]}
    for what, least in wanted.items():
        if (count := report.reached.get(what, 0)) < least:
            found.append(f"{count} {what}, of at least {least}")
    return found


def _uncertified(found: Verification, color: bool) -> Iterator[str]:
    if found.request.properties:
        # Some properties alone are no certificate.
        return
    left = [r for r in found.operators if lacking(r) and not all(map(_does_not_apply, r.verdicts))]
    short = [r for r in left if not any(v.status == FAILED for v in r.verdicts)]
    if short:
        yield _paint(color, _YELLOW, "not certified, as few calls were accepted:")
        for report in short:
            reached = ", ".join(_reached(report)) or "no call"
            yield from _wrapped(f"{report.name}: {'; '.join(lacking(report))} ({reached})")
        yield ""
    least = ", ".join(f"{count} {what}" for what, count in _ENOUGH.items())
    yield (
        f"certified: {len(found.operators) - len(left)} of {counted(len(found.operators), 'operator')} "
        f"(no property violated, at least {least})"
    )


def _does_not_apply(verdict: Verdict) -> bool:
    return verdict.status in (NOT_APPLICABLE, EXCLUDED)


def progress_line(report: OperatorReport, *, color: bool = False) -> str:
    """Return one line for an operator: its name, and the properties that it violates."""
    failed = [v.property for v in report.verdicts if v.status == FAILED]
    if failed:
        return f"{report.name}: {_paint(color, _RED, ', '.join(failed))}"
    passed = sum(v.status == PASSED for v in report.verdicts)
    untested = sum(v.status == NOT_TESTED for v in report.verdicts)
    more = f", {untested} not tested" if untested else ""
    more += "".join(f", {text}" for text in _reached(report))
    return f"{report.name}: {_paint(color, _GREEN, f'{passed} hold')}{more}"


def _reached(report: OperatorReport) -> Iterator[str]:
    """Yield how many accepted calls reached what."""
    for what, count in report.reached.items():
        # Of n calls, one that fails with a probability of 3 / n fails with a probability of 95 %.
        sure = f" (a race in 1 of {count // 3} shows)" if what == CONCURRENT and count >= 6 else ""
        yield f"{count} {what}{sure}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _paint(color: bool, style: str, text: str) -> str:
    return f"{style}{text}{_RESET}" if color else text


def _finding(report: OperatorReport, verdict: Verdict, color: bool) -> Iterator[str]:
    code = codes.PROPERTIES[verdict.property]
    head = _paint(color, _RED, f"{code} {verdict.property}")
    yield f"{_paint(color, _BOLD, report.name)}: {head}"
    for shown in verdict.findings:
        yield from _wrapped(shown.message)
        if shown.call:
            yield from _wrapped(f"in a call with {shown.call}")
    yield f"  = opgen explain {code}"
    yield ""


def _untested(found: Verification, color: bool) -> Iterator[str]:
    reasons: Counter[tuple[str, str]] = Counter()
    for report in found.operators:
        for verdict in report.verdicts:
            if verdict.status == NOT_TESTED:
                reasons[(verdict.property, verdict.reason)] += 1
    if not reasons:
        return
    yield _paint(color, _YELLOW, "not tested:")
    for (name, reason), count in reasons.most_common(_MOST_REASONS):
        yield from _wrapped(f"{counted(count, 'operator')}, {name}: {reason}")
    if len(reasons) > _MOST_REASONS:
        yield f"  and {counted(len(reasons) - _MOST_REASONS, 'other reason')}"
    yield ""


def _summary(found: Verification, color: bool) -> str:
    total = counts(found.operators)
    failing = sum(any(v.status == FAILED for v in r.verdicts) for r in found.operators)
    asked = sum(total.get(s, 0) for s in (PASSED, FAILED, NOT_TESTED))
    untested = total.get(NOT_TESTED, 0)
    share = 100 * untested / asked if asked else 0.0
    parts = [
        f"{counted(len(found.operators), 'operator')}, {counted(asked, 'verdict')} in {found.seconds:.0f} s: ",
        (
            _paint(
                color, _RED, f"{total.get(FAILED, 0)} violated in {counted(failing, 'operator')}"
            )
            if failing
            else "none violated"
        ),
        f", {total.get(PASSED, 0)} hold, ",
        _paint(color and untested > 0, _YELLOW, f"{untested} not tested ({share:.1f} %)"),
    ]
    excluded = total.get(EXCLUDED, 0)
    parts.append(f", {excluded} excluded by the author" if excluded else "")
    parts.append(f"; {total.get(NOT_APPLICABLE, 0)} do not apply")
    parts.append(f" (--seed {found.request.seed})")
    if not found.has_guard:
        parts.append("\nMemory of new tensors was not watched: install a C compiler.")
    return "".join(parts) + "\n"


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


def render_html(found: Verification) -> str:
    """Return one page with the matrix of operators by properties, and the findings below it."""
    return Renderer(templates_dir() / "text").render(_matrix(found))


def _matrix(found: Verification) -> GeneratedFile:
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
    return generated(
        "verify.html",
        "verify.html.j2",
        title=f"opgen verify: {len(found.operators)} operators",
        summary=html.escape(
            f"{summary}; {found.seconds:.0f} s, seed {found.request.seed}, {found.request.mode}"
        ),
        families=tuple(
            Family(title, width)
            for prefix, title in codes.FAMILIES
            if (width := sum(codes.PROPERTIES[n].startswith(prefix) for n in names))
        ),
        columns=tuple(
            Column(name, (code := codes.PROPERTIES[name]), html.escape(describe(code).title))
            for name in names
        ),
        rows=tuple(_row(report, names) for report in found.operators),
        findings=tuple(each for report in found.operators for each in _found(report)),
        untested=tuple(
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
