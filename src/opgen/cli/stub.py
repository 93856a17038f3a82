"""`opgen stub`: kernel skeletons, to paste or to write to a file."""

from __future__ import annotations

from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.completion import complete_operator
from opgen.cli.options import operator_options
from opgen.cli.report import fails, finish, finish_with, report_unwritable
from opgen.cli.streams import say
from opgen.diagnostics import Diagnostics
from opgen.files import create_file
from opgen.pipeline import Inputs


@click.command()
@click.argument("operators", nargs=-1, metavar="OP...", shell_complete=complete_operator)
@operator_options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A new file for the skeletons.  [default: stdout]",
)
def stub(
    inputs: Inputs,
    operators: tuple[str, ...],
    output: Path | None,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Print the meta and kernel functions to write for OP... (all operators, if none is named)."""
    diagnostics = Diagnostics()
    registry = pipeline.load(inputs, diagnostics)
    text = "" if registry is None else pipeline.skeletons(registry, inputs, operators, diagnostics)
    if output is None:
        finish_with(text, diagnostics, report_format, deny_warnings)
        return
    if not fails(diagnostics, deny_warnings):
        _write(output, text, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    say(f"{output}: written", report_format)


def _write(output: Path, text: str, diagnostics: Diagnostics) -> None:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        create_file(output, text.encode())
    except FileExistsError:
        diagnostics.error("E0901", f"{output} exists; give the name of a new file", None)
    except OSError as error:
        report_unwritable(output, error.strerror, diagnostics)
