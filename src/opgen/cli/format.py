"""`opgen format`: the usual layout of a schema file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.options import schema_options
from opgen.cli.report import finish
from opgen.cli.rewrite import print_diffs, read_contents, write_back
from opgen.diagnostics import Diagnostics
from opgen.edits import fix_all, format_contents
from opgen.pipeline import Inputs
from opgen.reading import Overlay


@click.command("format")
@schema_options
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--diff", is_flag=True, help="As --check, and print what would change.")
def format_command(
    inputs: Inputs, check: bool, diff: bool, report_format: str, deny_warnings: bool
) -> None:
    """Put the keys of each entry of YAML... into the usual order, and one space where one belongs.

    Comments go with the key that they stand above or beside. Files with errors are left alone.
    """
    old = {path: text for path, text in read_contents(inputs).items() if path in inputs.yaml}
    new = _formatted(inputs, old)
    diagnostics = Diagnostics()
    pipeline.load(replace(inputs, overlay=new), diagnostics)
    if diagnostics.has_errors:
        # Of the files as they are, not of what would have been made of them.
        diagnostics = Diagnostics()
        pipeline.load(inputs, diagnostics)
        finish(diagnostics, report_format, deny_warnings)
        raise AssertionError("formatting made errors of a file without any")
    changed = {path: text for path, text in new.items() if text != old[path]}
    if diff:
        print_diffs(old, changed)
    if not (check or diff):
        write_back(old, changed, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    _report(changed, len(old), wrote=not (check or diff))
    if changed and (check or diff):
        raise SystemExit(1)


def _formatted(inputs: Inputs, old: Overlay) -> Overlay:
    """The files with their white space mended and their keys in order."""

    def check(contents: Overlay) -> tuple[Diagnostics, None]:
        return pipeline.misplaced_blanks(replace(inputs, overlay=contents)), None

    spaced = {**old, **fix_all(old, check).contents}
    return {path: format_contents(path, content) for path, content in spaced.items()}


def _report(changed: Overlay, files: int, *, wrote: bool) -> None:
    for path in map(Path, changed):
        click.echo(f"{'formatted' if wrote else 'would format'} {path}", err=True)
    if not changed:
        click.echo(
            "1 file is formatted" if files == 1 else f"{files} files are formatted", err=True
        )
