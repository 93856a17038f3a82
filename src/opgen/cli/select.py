"""`opgen select`: the list of operators for `--select`, from what a backend registers or a program calls."""

from __future__ import annotations

from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.completion import complete_operator
from opgen.cli.options import operator_options
from opgen.cli.report import finish_with
from opgen.diagnostics import Diagnostics
from opgen.pipeline import Inputs

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("operators", nargs=-1, metavar="[OP]...", shell_complete=complete_operator)
@operator_options
@click.option(
    "--from-registrations",
    "registrations",
    multiple=True,
    type=_FILE,
    help="What a backend registers: a C++ source, or a dispatcher's or opgen dump's list; repeatable.",
)
@click.option(
    "--from-trace",
    "traces",
    multiple=True,
    type=_FILE,
    help="What a program calls: a graph, a profile, or a name a line; repeatable.",
)
def select(
    inputs: Inputs,
    operators: tuple[str, ...],
    registrations: tuple[Path, ...],
    traces: tuple[Path, ...],
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Print a selective-build YAML for --select: OP..., what the files name, and what that needs.

    A name without an overload is all overloads, but in registrations and where a graph says
    `default`. With --select, what that file keeps is kept, too.
    """
    if not (operators or registrations or traces or inputs.select):
        raise click.UsageError("name operators, or a file that does")
    diagnostics = Diagnostics()
    registry = pipeline.load(inputs, diagnostics)
    text = ""
    if registry is not None:
        named = (operators, registrations, traces)
        text = pipeline.selection_list(registry, inputs, *named, diagnostics)
    finish_with(text, diagnostics, report_format, deny_warnings)
