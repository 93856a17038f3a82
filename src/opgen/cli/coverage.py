"""`opgen coverage`: report which operators an external backend runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from opgen.cli.help import Choice, ProjectOption, command
from opgen.cli.options import (
    FILE,
    default_schema,
    path_option,
    report_options,
    with_settings,
)
from opgen.cli.report import Reporting, write_output
from opgen.diagnostics import Diagnostics
from opgen.model.profile import ATEN
from opgen.pipeline.inputs import Inputs, find_installed
from opgen.pipeline.queries import report_coverage
from opgen.targets import TARGETS


@command("coverage")
@click.argument("backend", type=FILE, metavar="BACKEND.YAML")
@click.argument("operators", nargs=-1, type=FILE)
@click.option("--against", default="core")
@path_option("--html")
@click.option("--target", cls=ProjectOption, type=Choice(sorted(TARGETS)), default="torch")
@path_option("--tags")
@path_option("--derivatives", multiple=True)
@report_options("human", "json")
def coverage(
    backend: Path,
    against: str,
    html: Path | None,
    target: str,
    operators: tuple[Path, ...],
    tags: Path | None,
    derivatives: tuple[Path, ...],
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Report which operators a backend runs."""
    settings = with_settings({**click.get_current_context().params, "yaml": (backend,)})
    target = settings["target"]
    reporting = Reporting(report_format, settings["deny_warnings"])
    diagnostics = Diagnostics()
    if not operators:
        operators = (default_schema(target, backend),)
        derivatives = derivatives or tuple(filter(None, (find_installed(target, "derivatives"),)))
    inputs = Inputs(
        operators,
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
    text = "the backend supports nothing\n" if found is None else found.text
    if reporting.format == "json":
        text = f"{json.dumps(None if found is None else found.values)}\n"
    reporting.finish_with(text, diagnostics)
