"""`opgen stub`: kernel skeletons, to paste or to write to a file."""

from __future__ import annotations

from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.completion import complete_operator
from opgen.cli.options import operator_options
from opgen.cli.report import finish, report_unwritable
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
    finish(diagnostics, report_format, deny_warnings)
    assert registry is not None
    text = pipeline.skeletons(registry, inputs, operators, diagnostics)
    if output is not None and not diagnostics.has_errors:
        _write(output, text, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    if output is None:
        click.echo(text, nl=False)
        return
    click.echo(f"{output}: written")


def _write(output: Path, text: str, diagnostics: Diagnostics) -> None:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        create_file(output, text.encode())
    except FileExistsError:
        diagnostics.error("E0901", f"{output} exists; give the name of a new file", None)
    except OSError as error:
        report_unwritable(output, error.strerror, diagnostics)
