"""Reports of a verification: for people, for machines (JSON, JUnit, SARIF, GitHub), and as an HTML page."""

from __future__ import annotations

import html
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec

from opgen.data import templates_dir
from opgen.diagnostics import (
    Diagnostics,
    Source,
    Span,
    counted,
    describe,
    properties,
)
from opgen.emit.common.base import generated
from opgen.templating.render import Renderer
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
_COLORS = re.compile(r"\x1b\[[\d;]*m")
# Reasons that are listed, of all for which something was not tested.
_MOST_REASONS = 8


def render_terminal(found: Verification, *, color: bool = False) -> str:
    """Return the findings, what was not tested, and a summary."""
    findings = (render_findings(report, color=color) for report in found.operators)
    return "".join([*findings, render_rest(found, color=color)])


def _rendered(lines: Iterable[str], color: bool) -> str:
    text = "\n".join(lines)
    return text if color else _COLORS.sub("", text)


def render_findings(report: OperatorReport, *, color: bool = False) -> str:
    """Return the findings of one operator, each with an empty line behind it.

    A call that reads or writes what it should not returns something else each time: what follows from that is named only.
    """
    own, follows = split_findings(report)
    lines = [line for v in own for line in _finding(report, v)]
    if follows:
        root = own[0]
        names = ", ".join(f"{properties.PROPERTIES[v.property]} {v.property}" for v in follows)
        text = f"{report.name}: also violated, perhaps because of {root.property}: {names}"
        lines += [*textwrap.wrap(text, _WIDTH, subsequent_indent="  "), ""]
    return _rendered([*lines, ""] if lines else (), color)


def failed(report: OperatorReport) -> list[Verdict]:
    """Return the violated properties."""
    return [v for v in report.verdicts if v.status == FAILED]


def split_findings(report: OperatorReport) -> tuple[list[Verdict], list[Verdict]]:
    """Return the violated properties, a root cause first, and those that may follow from it."""
    found = failed(report)
    root = next((v for name in _ROOTS for v in found if v.property == name), None)
    follows = [
        v
        for v in found
        if root and v is not root and properties.PROPERTIES[v.property].startswith(_FAMILIES)
    ]
    own = [v for v in found if v not in follows]
    return sorted(own, key=lambda v: v is not root), follows


# What makes results differ from call to call, and the families of properties that then compare nothing.
_ROOTS = ("write-beyond", "read-beyond", "uninitialised", "crash")
_FAMILIES = ("V010", "V011", "V012", "V014", "V015", "V017", "V019")


def render_rest(found: Verification, *, color: bool = False) -> str:
    """Return what was not tested, which operators are not certified, and a summary."""
    return _rendered([*_untested(found), *_uncertified(found), _summary(found)], color)


# An operator is certified if no property is violated, and so many of its accepted calls were of each kind.
_ENOUGH = {CALLS: 50, LARGE: 20, STRIDED: 4}


def lacking(report: OperatorReport) -> list[str]:
    """Return what an operator lacks for a certificate, in words; nothing if it is certified."""
    count = len(failed(report))
    found = [f"{counted(count, 'property', 'properties')} violated"] if count else []
    wanted = _ENOUGH if report.takes_tensors else {CALLS: _ENOUGH[CALLS]}
    for what, least in wanted.items():
        if (count := report.reached.get(what, 0)) < least:
            found.append(f"{count} {what}, of at least {least}")
    return found


def _uncertified(found: Verification) -> Iterator[str]:
    if found.request.properties:
        # Some properties alone are no certificate.
        return
    applies = {PASSED, FAILED, NOT_TESTED}
    left = [r for r in found.operators if lacking(r) and applies & {v.status for v in r.verdicts}]
    short = [r for r in left if not failed(r)]
    if short:
        yield f"{_YELLOW}not certified, as few calls were accepted:{_RESET}"
        for report in short:
            reached = ", ".join(_reached(report)) or "no call"
            yield from _wrapped(f"{report.name}: {'; '.join(lacking(report))} ({reached})")
        yield ""
    least = ", ".join(f"{count} {what}" for what, count in _ENOUGH.items())
    yield (
        f"certified: {len(found.operators) - len(left)} of {counted(len(found.operators), 'operator')} "
        f"(no property violated, at least {least})"
    )


def progress_line(report: OperatorReport, *, color: bool = False) -> str:
    """Return one line for an operator: its name, and the properties that it violates."""
    if names := ", ".join(v.property for v in failed(report)):
        return _rendered([f"{report.name}: {_RED}{names}{_RESET}"], color)
    total = counts([report])
    line = f"{report.name}: {_GREEN}{total[PASSED]} hold{_RESET}"
    untested = [f"{total[NOT_TESTED]} not tested"] if total[NOT_TESTED] else []
    return _rendered([", ".join([line, *untested, *_reached(report)])], color)


def _reached(report: OperatorReport) -> Iterator[str]:
    """Yield how many accepted calls reached what."""
    for what, count in report.reached.items():
        # Of n calls, one that fails with a probability of 3 / n fails with a probability of 95 %.
        sure = f" (a race in 1 of {count // 3} shows)" if what == CONCURRENT and count >= 6 else ""
        yield f"{count} {what}{sure}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _finding(report: OperatorReport, verdict: Verdict) -> Iterator[str]:
    code = properties.PROPERTIES[verdict.property]
    yield f"{_BOLD}{report.name}{_RESET}: {_RED}{code} {verdict.property}{_RESET}"
    for shown in verdict.findings:
        yield from _wrapped(shown.message)
        if shown.call:
            yield from _wrapped(f"in a call with {shown.call}")
    yield f"  = opgen explain {code}"
    yield ""


def _reasons(found: Verification) -> Counter[tuple[str, str]]:
    """Return why properties were not tested, and of how many operators."""
    verdicts = (v for report in found.operators for v in report.verdicts)
    return Counter((v.property, v.reason) for v in verdicts if v.status == NOT_TESTED)


def _untested(found: Verification) -> Iterator[str]:
    reasons = _reasons(found)
    if not reasons:
        return
    yield f"{_YELLOW}not tested:{_RESET}"
    for (name, reason), count in reasons.most_common(_MOST_REASONS):
        yield from _wrapped(f"{counted(count, 'operator')}, {name}: {reason}")
    if len(reasons) > _MOST_REASONS:
        yield f"  and {counted(len(reasons) - _MOST_REASONS, 'other reason')}"
    yield ""


def _summary(found: Verification) -> str:
    total = counts(found.operators)
    failing = sum(bool(failed(r)) for r in found.operators)
    asked, untested = total[PASSED] + total[FAILED] + total[NOT_TESTED], total[NOT_TESTED]
    violated = f"{_RED}{total[FAILED]} violated in {counted(failing, 'operator')}{_RESET}"
    share = f"{untested} not tested ({100 * untested / asked if asked else 0.0:.1f} %)"
    parts = [
        f"{counted(len(found.operators), 'operator')}, {counted(asked, 'verdict')} in {found.seconds:.0f} s: ",
        violated if failing else "none violated",
        f", {total[PASSED]} hold, {f'{_YELLOW}{share}{_RESET}' if untested else share}",
        f", {total[EXCLUDED]} excluded by the author" if total[EXCLUDED] else "",
        f"; {total[NOT_APPLICABLE]} do not apply (--seed {found.request.seed})",
    ]
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
        "properties": properties.PROPERTIES,
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
            failures=str(len(failed(report))),
            skipped=str(sum(v.status in (NOT_TESTED, EXCLUDED) for v in cases)),
            time=f"{report.seconds:.3f}",
        )
        for v in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=report.name, name=v.property)
            for shown in v.findings:
                failure = ElementTree.SubElement(case, "failure", message=_printable(shown.message))
                failure.text = _printable(shown.program)
            if v.status in (NOT_TESTED, EXCLUDED):
                ElementTree.SubElement(case, "skipped", message=_printable(v.reason))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Return the text without characters that XML does not have."""
    return "".join(c for c in text if c in "\t\n" or c >= " ")


def findings(found: Verification) -> Diagnostics:
    """Return the findings as diagnostics, at the lines of their entries."""
    diagnostics = Diagnostics(most=1_000_000)
    source_of = cache(_source)
    for report in found.operators:
        span = _span(source_of(report.file), report.line) if report.file else None
        for verdict in failed(report):
            name = verdict.property
            for shown in verdict.findings:
                call = f" (in a call with {shown.call})" if shown.call else ""
                text = f"{report.name}: {name}: {shown.message}{call}"
                diagnostics.error(properties.PROPERTIES[name], text, span)
    return diagnostics


def _source(file: str) -> Source:
    try:
        return Source(file, Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return Source(file, "")


def _span(source: Source, line: int) -> Span:
    starts = source.line_starts()
    if not 0 < line <= len(starts):
        return Span(source, 0, 0)
    return Span(source, starts[line - 1], starts[line - 1] + len(source.line_text(line)))


# The class and the sign of a cell.
_CELLS = {
    PASSED: ("held", "✓"),
    FAILED: ("violated", "✗"),
    NOT_TESTED: ("untested", "?"),
    NOT_APPLICABLE: ("none", "·"),
    EXCLUDED: ("excluded", "–"),
}


def render_html(found: Verification) -> str:
    """Return one page with the matrix of operators by properties, and the findings below it."""
    asked = {v.property for report in found.operators for v in report.verdicts}
    names = [name for name in properties.PROPERTIES if name in asked]
    total, request = counts(found.operators), found.request
    words = {EXCLUDED: "excluded by the author", NOT_APPLICABLE: "do not apply"}
    words = {FAILED: "violated", PASSED: "hold", NOT_TESTED: "not tested", **words}
    summary = ", ".join(f"{total[status]} {text}" for status, text in words.items())
    values = {
        "title": f"opgen verify: {len(found.operators)} operators",
        "summary": f"{summary}; {found.seconds:.0f} s, seed {request.seed}, {request.mode}",
        "families": [
            (title, width)
            for prefix, title in properties.FAMILIES
            if (width := sum(properties.PROPERTIES[n].startswith(prefix) for n in names))
        ],
        "columns": [
            (name, properties.PROPERTIES[name], describe(properties.PROPERTIES[name]).title)
            for name in names
        ],
        "rows": [
            ("violated" if failed(r) else "held", r.name, [_cell(r, name) for name in names])
            for r in found.operators
        ],
        "findings": [
            (_anchor(r, v), r.name, properties.PROPERTIES[v.property], v.property, *shown)
            for r in found.operators
            for v in failed(r)
            for shown in ((s.message, s.call, s.program) for s in v.findings)
        ],
        "untested": [
            f"{count} × {name}: {reason}" for (name, reason), count in _reasons(found).most_common()
        ],
    }
    page = generated("verify.html", "verify.html.j2", **_escaped(values))
    return Renderer(templates_dir() / "text").render(page)


def _cell(report: OperatorReport, name: str) -> tuple[str, str, str, str]:
    """Return the class of a cell, its sign, what it says under the pointer, and the finding that it leads to."""
    verdict = report.verdict(name)
    if verdict is None:
        return "none", "", f"{report.name}, {name}: ", ""
    more = verdict.reason or (f"{verdict.count} calls" if verdict.count else "")
    title = f"{report.name}, {name}: {verdict.status}" + (f" ({more})" if more else "")
    anchor = _anchor(report, verdict) if verdict.status == FAILED else ""
    return *_CELLS[verdict.status], title, anchor


def _anchor(report: OperatorReport, verdict: Verdict) -> str:
    return "".join(c if c.isalnum() else "-" for c in f"{report.name}-{verdict.property}")


def _escaped(value: Any) -> Any:
    """Return the value with all of its texts as HTML."""
    if isinstance(value, dict):
        return {name: _escaped(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_escaped, value))
    return html.escape(value) if isinstance(value, str) else value
