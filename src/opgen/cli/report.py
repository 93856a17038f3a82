"""Print diagnostics to the stream of their format, and exit with the code that follows from them.

In format human, results (a summary, a document) go to stdout and diagnostics to stderr. In other formats, stdout has the
diagnostics and nothing else. A document (`dump`, `stub`, ...) goes to stdout in either case, and diagnostics, which are
warnings then, to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import click
from msgspec import Struct

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.rendering import render_github, render_human, render_json, render_sarif
from opgen.io.files import replace_users_file


class Reporting(Struct, frozen=True):
    """How a run reports what it finds: the options --format and --deny-warnings."""

    format: str = "human"
    deny_warnings: bool = False

    @property
    def is_human(self) -> bool:
        """Whether a person reads the report."""
        return self.format == "human"

    def print(self, text: str, *, beside: bool = False) -> None:
        """Print rendered diagnostics; with `beside`, stdout is for a document."""
        if self.is_human or beside:
            click.echo(text, err=True, nl=False)
        else:
            print_document(text)

    def say(self, text: str, *, nl: bool = True) -> None:
        """Print a summary or another message for people."""
        click.echo(text, err=not self.is_human, nl=nl)

    def finish(
        self,
        diagnostics: Diagnostics,
        *,
        beside: bool = False,
        human: Callable[[Diagnostics], str] | None = None,
    ) -> None:
        """Print all diagnostics by position; exit with 1 if there is an error or a denied warning.

        With `beside`, stdout has a document, and diagnostics go to stderr. `human` replaces the report for a person.
        """
        render = human if human is not None and self.is_human else self.rendered
        self.print(render(diagnostics), beside=beside)
        if self.fails(diagnostics):
            raise SystemExit(1)

    def finish_with(
        self,
        document: str,
        diagnostics: Diagnostics,
        human: Callable[[Diagnostics], str] | None = None,
    ) -> None:
        """Print the diagnostics and, unless they fail the run, the document."""
        self.finish(diagnostics, beside=not self.fails(diagnostics), human=human)
        print_document(document)

    def announce(self, early: Diagnostics) -> None:
        """Print the warnings of a run before it writes anything. Formats for programs have one report, at the end."""
        if self.is_human:
            self.print(self.rendered(early))

    def fails(self, diagnostics: Diagnostics) -> bool:
        """Return whether the run ends with code 1: an error, or a warning that is denied."""
        return diagnostics.has_errors or (self.deny_warnings and diagnostics.has_warnings)

    def rendered(self, diagnostics: Diagnostics) -> str:
        """Return the text that `finish` prints."""
        match self.format:
            case "json":
                return render_json(diagnostics)
            case "github":
                return render_github(diagnostics)
            case "sarif":
                return render_sarif(diagnostics)
            case _:
                return render_human(diagnostics, color=wants_color())


def print_document(text: str) -> None:
    """Print to stdout in UTF-8, independent of the locale; lone surrogates are escaped as in JSON."""
    click.echo(text.encode("utf-8", "backslashreplace"), nl=False)


def show_progress(text: str = "") -> None:
    """Replace the line of a terminal on which progress is shown."""
    click.echo(f"\r\x1b[K{text}", err=True, nl=False)


def report_unwritable(path: Path | str, why: str | None, diagnostics: Diagnostics) -> None:
    """Report E0904 for a file that cannot be written."""
    diagnostics.error("E0904", f"cannot write {path}: {why}", None)


def write_output(path: Path, content: bytes, diagnostics: Diagnostics) -> bool:
    """Replace a file that an option names, and create its folder; report E0904 and return False if that fails."""
    try:
        replace_users_file(path, content)
    except OSError as error:
        report_unwritable(error.filename or path, error.strerror, diagnostics)
        return False
    return True


def wants_color(*, err: bool = True) -> bool:
    """Return whether text on stderr, or else on stdout, has colors."""
    return (sys.stderr if err else sys.stdout).isatty() and not os.environ.get("NO_COLOR")
