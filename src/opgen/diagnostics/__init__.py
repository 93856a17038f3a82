"""Errors and warnings as values: what is wrong, where, and what to do about it."""

from opgen.diagnostics.codes import Code, collect_codes
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
from opgen.diagnostics.human import render_human
from opgen.diagnostics.machine import render_github, render_json
from opgen.diagnostics.sarif import render_sarif
from opgen.diagnostics.source import Location, Source, Span

__all__ = [
    "LIMIT_CODES",
    "MAX_ERRORS",
    "Code",
    "Diagnostic",
    "Diagnostics",
    "Edit",
    "Location",
    "OpgenError",
    "Severity",
    "Source",
    "Span",
    "TooManyErrors",
    "collect_codes",
    "render_github",
    "render_human",
    "render_json",
    "render_sarif",
    "until_too_many",
]
