"""A verification as text for a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

from opgen.diagnostics import counted
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

_WIDTH = 116
_RED, _GREEN, _YELLOW, _BOLD, _RESET = "\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
# Reasons that are listed, of all for which something was not tested.
_MOST_REASONS = 8


def render_terminal(found: Verification, *, color: bool = False, programs: str = "") -> str:
    """Return the findings, what was not tested, and a summary. `programs` is the folder with their programs."""
    findings = (render_findings(report, color=color) for report in found.operators)
    return "".join([*findings, render_rest(found, color=color)])


def render_findings(report: OperatorReport, *, color: bool = False) -> str:
    """Return the findings of one operator, each with an empty line behind it."""
    failed = (v for v in report.verdicts if v.status == FAILED)
    return "".join(f"{line}\n" for v in failed for line in _finding(report, v, color))


def render_rest(found: Verification, *, color: bool = False) -> str:
    """Return what was not tested, and a summary."""
    return "\n".join([*_untested(found, color), _summary(found, color)])


def progress_line(report: OperatorReport, *, color: bool = False) -> str:
    """Return one line for an operator: its name, and the properties that it violates."""
    failed = [v.property for v in report.verdicts if v.status == FAILED]
    if failed:
        return f"{report.name}: {_paint(color, _RED, ', '.join(failed))}"
    passed = sum(v.status == PASSED for v in report.verdicts)
    untested = sum(v.status == NOT_TESTED for v in report.verdicts)
    more = f", {untested} not tested" if untested else ""
    return f"{report.name}: {_paint(color, _GREEN, f'{passed} hold')}{more}"


def _paint(color: bool, style: str, text: str) -> str:
    return f"{style}{text}{_RESET}" if color else text


def _finding(report: OperatorReport, verdict: Verdict, color: bool) -> Iterator[str]:
    code = codes.PROPERTIES[verdict.property]
    head = _paint(color, _RED, f"{code} {verdict.property}")
    yield f"{_paint(color, _BOLD, report.name)}: {head}"
    for shown in verdict.findings:
        yield from textwrap.wrap(
            shown.message, _WIDTH, initial_indent="  ", subsequent_indent="    "
        )
        if shown.call:
            yield from textwrap.wrap(
                f"in a call with {shown.call}",
                _WIDTH,
                initial_indent="  ",
                subsequent_indent="    ",
            )
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
        yield from textwrap.wrap(
            f"{counted(count, 'operator')}, {name}: {reason}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
        )
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
