"""Errors and warnings as values: what is wrong, where, and what to do about it."""

from opgen.diagnostics.codes import Code, collect_codes
from opgen.diagnostics.diagnostic import Diagnostic, Diagnostics, Edit, OpgenError, Severity
from opgen.diagnostics.human import render_human
from opgen.diagnostics.machine import render_github, render_json, render_sarif
from opgen.diagnostics.source import Location, Source, Span

__all__ = [
    "Code",
    "Diagnostic",
    "Diagnostics",
    "Edit",
    "Location",
    "OpgenError",
    "Severity",
    "Source",
    "Span",
    "collect_codes",
    "render_github",
    "render_human",
    "render_json",
    "render_sarif",
]
