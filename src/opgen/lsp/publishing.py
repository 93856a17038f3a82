"""Convert diagnostics to those of the protocol, grouped by document."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from opgen._compat import assert_never
from opgen.diagnostics import Diagnostic, Severity, Source
from opgen.lsp.positions import Positions

ToUri = Callable[[Source], str]


def by_uri(
    diagnostics: Iterable[Diagnostic], positions: Positions, uri_of: ToUri, default: str
) -> dict[str, list[types.Diagnostic]]:
    """Return the diagnostics of each document. Those without a span belong to the document `default`."""
    grouped: dict[str, list[types.Diagnostic]] = {}
    for item in diagnostics:
        uri = default if item.span is None else uri_of(item.span.source)
        grouped.setdefault(uri, []).append(to_protocol(item, positions, uri_of))
    return grouped


def to_protocol(item: Diagnostic, positions: Positions, uri_of: ToUri) -> types.Diagnostic:
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(span.source), positions.range(span)), text or "here"
        )
        for span, text in item.labels
    ]
    return types.Diagnostic(
        range=nowhere if item.span is None else positions.range(item.span),
        severity=_severity(item.severity),
        code=item.code,
        source="opgen",
        message="\n".join((item.message, *((item.hint,) if item.hint else ()), *item.notes)),
        related_information=related or None,
        tags=[types.DiagnosticTag.Unnecessary] if _is_unnecessary(item) else None,
    )


def _severity(severity: Severity) -> types.DiagnosticSeverity:
    match severity:
        case Severity.error:
            return types.DiagnosticSeverity.Error
        case Severity.warning:
            return types.DiagnosticSeverity.Warning
        case _:
            assert_never(severity)


def _is_unnecessary(item: Diagnostic) -> bool:
    """Return whether the fix removes the whole span of the diagnostic."""
    fix, span = item.fix, item.span
    return (
        fix is not None
        and span is not None
        and not fix.replacement.strip()
        and fix.span.start <= span.start < span.end <= fix.span.end
    )
