"""Collect the diagnostics of `opgen import`, with a limit on the number of warnings."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Span

# Arbitrary bytes may cause a million warnings, and each takes time to print.
MOST = 1000


class Problems(Struct):
    """Adds warnings, at most MOST of them, and errors to `diagnostics`."""

    diagnostics: Diagnostics
    count: int = 0

    def warn(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        hint: str | None = None,
        labels: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self.count += 1
        if self.count <= MOST:
            self.diagnostics.warning(code, message, span, hint=hint, labels=labels, notes=notes)
        elif self.count == MOST + 1:
            message = f"opgen stops after {MOST} warnings"
            self.diagnostics.warning("W1180", message, None)

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        hint: str | None = None,
        labels: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self.diagnostics.error(code, message, span, hint=hint, labels=labels, notes=notes)
