"""`opgen select`: list operators for `--select`, from registrations of a backend or calls of a program."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.editors import complete_operator
from opgen.cli.help import Command
from opgen.cli.options import operator_options, path_option
from opgen.cli.report import finish_with
from opgen.diagnostics import Diagnostics
from opgen.pipeline import loading, queries
from opgen.pipeline.inputs import Inputs


@click.command(
    cls=Command,
    example="opgen select leaky.yaml ramp",
    pages=("backend-and-selective",),
)
@operator_options("[OP]...", "An operator to select; repeatable.", complete_operator)
@path_option(
    "--from-registrations",
    "registrations",
    multiple=True,
    help="A file of a backend's registrations: a C++ source, or a list printed by a dispatcher or by opgen dump; repeatable.",
)
@path_option(
    "--from-trace",
    "traces",
    multiple=True,
    help="A file of a program's calls: a graph, a profile, or a name per line; repeatable.",
)
def select(
    inputs: Inputs,
    words: tuple[str, ...],
    registrations: tuple[Path, ...],
    traces: tuple[Path, ...],
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Print the list of operators that an application uses.

    The list is a file for --select: the operators on the command line, those that the files name, and all that these
    need. A name without an overload stands for all overloads, except in registrations and where a graph says
    `default`. With --select, the operators of that file are kept, too.
    """
    if not (words or registrations or traces or inputs.select):
        raise click.UsageError("name operators, or a file that names operators")
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    text = ""
    if registry is not None:
        named = (words, registrations, traces)
        text = queries.selection_list(registry, inputs, *named, diagnostics)
    finish_with(text, diagnostics, report_format, deny_warnings)
