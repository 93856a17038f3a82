"""Diagnostics onto stderr, and the exit code that follows from them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from opgen import pipeline
from opgen.diagnostics import (
    Diagnostics,
    render_github,
    render_human,
    render_json,
    render_sarif,
)


def report(diagnostics: Diagnostics, report_format: str) -> None:
    """Print every diagnostic to stderr, in order of position."""
    text = rendered(diagnostics, report_format)
    if text:
        click.echo(text, err=True, nl=False)


def finish(diagnostics: Diagnostics, report_format: str, deny_warnings: bool) -> None:
    """Report, and leave with code 1 if there is an error (or a warning that is denied)."""
    report(diagnostics, report_format)
    if diagnostics.has_errors or (deny_warnings and diagnostics.has_warnings):
        raise SystemExit(1)


def report_unwritable(path: Path | str, why: str | None, diagnostics: Diagnostics) -> None:
    diagnostics.error("E0904", f"cannot write {path}: {why}", None)


def rendered(diagnostics: Diagnostics, report_format: str) -> str:
    """What `report` prints."""
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
