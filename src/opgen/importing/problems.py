"""Collects what `opgen import` does not understand, up to a number that people read."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.codes import Code
from opgen.importing import codes

# Of any bytes there may be a million, and to show each takes a moment.
MOST = 1000


@dataclass(slots=True)
class Problems:
    diagnostics: Diagnostics
    count: int = 0

    def warn(
        self,
        code: Code,
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
            message = f"{MOST} warnings are reported; there are more"
            self.diagnostics.warning(codes.MORE, message, None)

    def error(
        self,
        code: Code,
        message: str,
        span: Span | None,
        *,
        hint: str | None = None,
        labels: Iterable[tuple[Span, str]] = (),
    ) -> None:
        self.diagnostics.error(code, message, span, hint=hint, labels=labels)
