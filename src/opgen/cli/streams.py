"""What goes to stdout and what to stderr.

For people, stdout has what a command makes (a summary, a document), and stderr has the diagnostics. For programs,
stdout has the diagnostics and nothing else. A document (`dump`, `stub`, ...) is stdout's in either case: diagnostics
beside it, which are warnings then, go to stderr.
"""

from __future__ import annotations

import click


def print_diagnostics(text: str, report_format: str, *, beside: bool = False) -> None:
    """Print rendered diagnostics; `beside` a document they leave stdout to it."""
    if report_format == "human" or beside:
        click.echo(text, err=True, nl=False)
    else:
        print_document(text)


def print_document(text: str) -> None:
    """Print to stdout, in UTF-8 whatever the locale is. JSON has the same escapes for what is not Unicode."""
    click.echo(text.encode("utf-8", "backslashreplace"), nl=False)


def say(text: str, report_format: str, *, nl: bool = True) -> None:
    """Print a summary, or another text for people."""
    click.echo(text, err=report_format != "human", nl=nl)
