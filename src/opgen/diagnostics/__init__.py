"""Errors and warnings as values: what is wrong, where, and what to do about it."""

from opgen.diagnostics.diagnostic import Diagnostic, Diagnostics, Edit, OpgenError, Severity
from opgen.diagnostics.source import Location, Source, Span

__all__ = [
    "Diagnostic",
    "Diagnostics",
    "Edit",
    "Location",
    "OpgenError",
    "Severity",
    "Source",
    "Span",
]
