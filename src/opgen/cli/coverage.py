"""`opgen coverage`: report which operators an external backend runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from opgen.cli.help import Argument, Choice, Command, ProjectOption
from opgen.cli.options import (
    FILE,
    FORMER_YAML,
    default_schema,
    path_option,
    report_options,
    with_settings,
)
from opgen.cli.report import Reporting, write_output
from opgen.diagnostics import Diagnostics
from opgen.model.profile import ATEN
from opgen.pipeline.inputs import Inputs, installed_derivatives
from opgen.pipeline.queries import CoverageReport, report_coverage
from opgen.targets import TARGETS


@click.command(
    cls=Command,
    example="opgen coverage backend.yaml --against core --html coverage.html",
    pages=("torch-backends",),
)
@click.argument(
    "backend",
    type=FILE,
    metavar="BACKEND.YAML",
    cls=Argument,
    rows=(("BACKEND.YAML", "The YAML of the backend."),),
)
@click.argument(
    "operators",
    nargs=-1,
    type=FILE,
    metavar="[YAML]...",
    cls=Argument,
    rows=(
        ("YAML", "A file that defines operators; repeatable.  [default: the installed PyTorch's]"),
    ),
)
@click.option(
    "--against",
    default="core",
    show_default=True,
    metavar="core|all|FILE",
    help="The operators to report: those with the tag core, all, or those that a file names.",
)
@path_option("--html", help="Also write a page for browsers to this file.")
@click.option(
    "--target",
    cls=ProjectOption,
    type=Choice(sorted(TARGETS)),
    default="torch",
    show_default=True,
    help="The target of the backend.",
)
@FORMER_YAML
@path_option("--tags", help="The tags file.  [default: as for generate]")
@path_option(
    "--derivatives",
    multiple=True,
    help="A file with the formulas of gradients; repeatable.  [default: derivatives.yaml beside the YAML, or the installed PyTorch's]",
)
@report_options("human", "json", help="The format of the report and of diagnostics")
def coverage(
    backend: Path,
    against: str,
    html: Path | None,
    target: str,
    operators: tuple[Path, ...],
    yaml: tuple[Path, ...],
    tags: Path | None,
    derivatives: tuple[Path, ...],
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Report which operators a backend runs.

    An operator runs with a kernel of the backend, on the CPU, or not at all. The report says which of them have a gradient,
    too: gradients are those of PyTorch's formulas,
    which call other operators, and of the backend's autograd kernels. The file of --against has one operator per
    line, or a graph that PyTorch printed.
    """
    settings = with_settings({**click.get_current_context().params, "yaml": (backend,)})
    target = settings["target"]
    reporting = Reporting(report_format, settings["deny_warnings"])
    diagnostics = Diagnostics()
    schemas = (*operators, *yaml)
    if not schemas:
        schemas = (default_schema(target, backend),)
        derivatives = derivatives or installed_derivatives(target)
    inputs = Inputs(
        schemas,
        tags=tags,
        derivatives=derivatives,
        target=target,
        backend_yaml=backend,
        namespace=ATEN,
        project=settings["project"],
    )
    found = report_coverage(inputs, against, diagnostics)
    if found is not None and html is not None:
        write_output(html, os.fsencode(found.html), diagnostics)
    reporting.finish_with(_printed(found, reporting), diagnostics)


def _printed(found: CoverageReport | None, reporting: Reporting) -> str:
    if reporting.format == "json":
        return f"{json.dumps(None if found is None else found.values)}\n"
    return "the backend supports nothing\n" if found is None else found.text
