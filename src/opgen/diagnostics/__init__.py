"""Errors and warnings as values: the mistake, its place, and the remedy."""

from opgen.diagnostics.codes import Code, Example, collect_codes
from opgen.diagnostics.codes_limits import CODES as LIMIT_CODES
from opgen.diagnostics.diagnostic import (
    MAX_ERRORS,
    Diagnostic,
    Diagnostics,
    Edit,
    OpgenError,
    Severity,
    TooManyErrors,
    until_too_many,
)
from opgen.diagnostics.human import counted, render_human, summarize
from opgen.diagnostics.machine import render_github, render_json
from opgen.diagnostics.sarif import render_sarif
from opgen.diagnostics.source import Located, Location, Source, Span

__all__ = [
    "LIMIT_CODES",
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
    "collect_codes",
    "counted",
    "render_github",
    "render_human",
    "render_json",
    "render_sarif",
    "summarize",
    "until_too_many",
]
