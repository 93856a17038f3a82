"""Diagnostics into those of the protocol, by the document that each belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from opgen.diagnostics import Diagnostic, Severity, Source
from opgen.lsp.positions import Positions
from opgen.older_pythons import assert_never

ToUri = Callable[[Source], str]


def by_uri(
    diagnostics: Iterable[Diagnostic], positions: Positions, uri_of: ToUri, default: str
) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each document; those without a place belong to `default`."""
    found: dict[str, list[types.Diagnostic]] = {}
    for item in diagnostics:
        uri = default if item.span is None else uri_of(item.span.source)
        found.setdefault(uri, []).append(to_protocol(item, positions, uri_of))
    return found


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
    """Whether it is mended by taking away what it is about."""
    fix, span = item.fix, item.span
    return (
        fix is not None
        and span is not None
        and not fix.replacement.strip()
        and fix.span.start <= span.start < span.end <= fix.span.end
    )
