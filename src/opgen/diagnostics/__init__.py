"""Errors and warnings as values: the mistake, its place, and the remedy."""

from opgen.diagnostics.diagnostic import (
    MAX_ERRORS,
    Code,
    Diagnostic,
    Diagnostics,
    Edit,
    Example,
    OpgenError,
    Severity,
    TooManyErrors,
    describe,
    known_codes,
    until_too_many,
)
from opgen.diagnostics.human import counted, render_human, summarize
from opgen.diagnostics.machine import render_github, render_json, render_sarif
from opgen.diagnostics.source import Located, Location, Source, Span

__all__ = [
    "MAX_ERRORS",
    "Code",
    "Diagnostic",
    "Diagnostics",
    "Edit",
    "Example",
    "Located",
    "Location",
    "OpgenError",
    "Severity",
    "Source",
    "Span",
    "TooManyErrors",
    "counted",
    "describe",
    "known_codes",
    "render_github",
    "render_human",
    "render_json",
    "render_sarif",
    "summarize",
    "until_too_many",
]
