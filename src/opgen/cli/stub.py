"""`opgen stub`: print kernel skeletons, or write them to a file."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.completion import complete_operator
from opgen.cli.help import Command
from opgen.cli.options import operator_options
from opgen.cli.report import fails, finish, finish_with, report_unwritable, say
from opgen.diagnostics import Diagnostics
from opgen.io.files import create_file
from opgen.pipeline import loading, queries
from opgen.pipeline.inputs import Inputs


@click.command(
    cls=Command,
    example="opgen stub leaky.yaml ramp -o kernels/ramp.cpp",
    pages=("guides/kernels", "kernels-api"),
)
@operator_options("[OP]...", "An operator; repeatable.  [default: all]", complete_operator)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A new file for the skeletons.  [default: stdout]",
)
def stub(
    inputs: Inputs,
    words: tuple[str, ...],
    output: Path | None,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Print empty kernels to fill in.

    Also prints the empty meta functions of structured operators.
    """
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    text = "" if registry is None else queries.skeletons(registry, inputs, words, diagnostics)
    if output is None:
        finish_with(text, diagnostics, report_format, deny_warnings)
        return
    if not fails(diagnostics, deny_warnings):
        _write(output, text, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    say(f"{output}: written", report_format)


def _write(output: Path, text: str, diagnostics: Diagnostics) -> None:
    try:
        create_file(output, text.encode())
    except FileExistsError:
        diagnostics.error("E0901", f"{output} exists; name a new file", None)
    except OSError as error:
        report_unwritable(error.filename or output, error.strerror, diagnostics)
