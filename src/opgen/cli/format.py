"""`opgen format`: put schema files into the usual layout."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

from opgen.cli.help import Command
from opgen.cli.options import schema_options
from opgen.cli.report import finish
from opgen.cli.rewrite import print_diffs, read_contents, write_back
from opgen.diagnostics import Diagnostics
from opgen.edits import format_all
from opgen.pipeline import loading
from opgen.pipeline.inputs import Inputs, Overlay


@click.command(
    "format",
    cls=Command,
    example="opgen format leaky.yaml",
    fails=(
        "there is an error, or a file would change and --check or --diff is given; with --deny-warnings, also if there is"
        " a warning"
    ),
    pages=("lints",),
)
@schema_options
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="As --check, and print the changes.")
def format_command(
    inputs: Inputs, check: bool, diff: bool, report_format: str, deny_warnings: bool
) -> None:
    """Put schema files into the usual layout.

    Puts the keys of each entry into the usual order, and fixes white space in schemas. Comments move with the key that they are above or beside. Files with errors are not changed.
    """
    old = {path: text for path, text in read_contents(inputs).items() if path in inputs.yaml}

    def check_blanks(contents: Overlay) -> tuple[Diagnostics, Diagnostics]:
        return loading.misplaced_blanks(replace(inputs, overlay=contents))

    changed, diagnostics = format_all(old, check_blanks)
    if diagnostics.has_errors:
        finish(diagnostics, report_format, deny_warnings)
    if diff:
        print_diffs(old, changed, report_format)
    if not (check or diff):
        write_back(old, changed, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    _report(changed, len(old), wrote=not (check or diff))
    if changed and (check or diff):
        raise SystemExit(1)


def _report(changed: Overlay, files: int, *, wrote: bool) -> None:
    for path in map(Path, changed):
        click.echo(f"{'formatted' if wrote else 'would format'} {path}", err=True)
    if not changed:
        click.echo(
            "1 file is formatted" if files == 1 else f"{files} files are formatted", err=True
        )
