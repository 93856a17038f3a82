"""Print to stdout and stderr.

In format human, results (a summary, a document) go to stdout and diagnostics to stderr. In other formats, stdout has the
diagnostics and nothing else. A document (`dump`, `stub`, ...) goes to stdout in either case, and diagnostics, which are
warnings then, to stderr.
"""

from __future__ import annotations

import click


def print_diagnostics(text: str, report_format: str, *, beside: bool = False) -> None:
    """Print rendered diagnostics; with `beside`, stdout is for a document."""
    if report_format == "human" or beside:
        click.echo(text, err=True, nl=False)
    else:
        print_document(text)


def print_document(text: str) -> None:
    """Print to stdout in UTF-8, independent of the locale; lone surrogates are escaped as in JSON."""
    click.echo(text.encode("utf-8", "backslashreplace"), nl=False)


def say(text: str, report_format: str, *, nl: bool = True) -> None:
    """Print a summary or another message for people."""
    click.echo(text, err=report_format != "human", nl=nl)


def show_progress(text: str = "") -> None:
    """Replace the line of a terminal on which progress is shown."""
    click.echo(f"\r\x1b[K{text}", err=True, nl=False)
