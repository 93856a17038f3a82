"""Diagnostics onto the stream of their format, and the exit code that follows from them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from opgen import pipeline
from opgen.cli.streams import print_diagnostics, print_document
from opgen.diagnostics import (
    Diagnostics,
    render_github,
    render_human,
    render_json,
    render_sarif,
)


def finish(
    diagnostics: Diagnostics, report_format: str, deny_warnings: bool, *, beside: bool = False
) -> None:
    """Print every diagnostic, in order of position; leave with code 1 if there is an error (or a denied warning).

    `beside` a document that stdout has, they go to stderr.
    """
    print_diagnostics(rendered(diagnostics, report_format), report_format, beside=beside)
    if fails(diagnostics, deny_warnings):
        raise SystemExit(1)


def finish_with(
    document: str, diagnostics: Diagnostics, report_format: str, deny_warnings: bool
) -> None:
    """Finish with a document on stdout; if the diagnostics fail the run, they are there in its place."""
    finish(diagnostics, report_format, deny_warnings, beside=not fails(diagnostics, deny_warnings))
    print_document(document)


def fails(diagnostics: Diagnostics, deny_warnings: bool) -> bool:
    """Whether the run ends with code 1: an error, or a warning that is denied."""
    return diagnostics.has_errors or (deny_warnings and diagnostics.has_warnings)


def report_unwritable(path: Path | str, why: str | None, diagnostics: Diagnostics) -> None:
    diagnostics.error("E0904", f"cannot write {path}: {why}", None)


def rendered(diagnostics: Diagnostics, report_format: str) -> str:
    """What `finish` prints."""
    match report_format:
        case "json":
            return render_json(diagnostics)
        case "github":
            return render_github(diagnostics)
        case "sarif":
            return render_sarif(diagnostics, pipeline.CODES)
        case _:
            return render_human(diagnostics, color=wants_colour())


def wants_colour() -> bool:
    """Whether what is printed to stderr has colours."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
