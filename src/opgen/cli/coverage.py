"""`opgen coverage`: which operators an external backend runs, and which not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.options import TARGET_NAMES, installed_schema
from opgen.cli.report import finish_with, report_unwritable
from opgen.diagnostics import Diagnostics
from opgen.files import replace_file
from opgen.pipeline import Inputs
from opgen.pipeline.coverage import CoverageReport

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("backend", type=_FILE, metavar="BACKEND.YAML")
@click.option(
    "--against",
    default="core",
    show_default=True,
    metavar="core|all|FILE",
    help="What is asked for: operators with the tag core, all, or those that a file names.",
)
@click.option("--svg", type=_FILE, help="Draw the picture into this file, too.")
@click.option(
    "--target",
    type=click.Choice(TARGET_NAMES),
    default="torch",
    show_default=True,
    help="The C++ world that the backend is for.",
)
@click.option(
    "--yaml",
    multiple=True,
    type=_FILE,
    help="Where the operators are defined; repeatable.  [default: the installed PyTorch's]",
)
@click.option("--tags", type=_FILE, help="The tags file.  [default: as for generate]")
@click.option(
    "--format",
    "report_format",
    type=click.Choice(["human", "json"]),
    default="human",
    show_default=True,
    help="How the report and diagnostics are printed.",
)
@click.option("--deny-warnings", is_flag=True, help="Exit 1 on a warning, too.")
def coverage(
    backend: Path,
    against: str,
    svg: Path | None,
    target: str,
    yaml: tuple[Path, ...],
    tags: Path | None,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Report which operators the backend of BACKEND.YAML runs: by a kernel of its own, on the CPU, or not.

    FILE names one operator a line, or is a graph that PyTorch printed. See docs/torch-backends.md.
    """
    diagnostics = Diagnostics()
    schemas = yaml or (installed_schema(target, backend),)
    inputs = Inputs(schemas, tags, target, backend_yaml=backend, namespace="aten")
    found = pipeline.report_coverage(inputs, against, diagnostics)
    if found is not None and svg is not None:
        _draw(svg, found.svg, diagnostics)
    finish_with(_printed(found, report_format), diagnostics, report_format, deny_warnings)


def _printed(found: CoverageReport | None, report_format: str) -> str:
    if report_format == "json":
        return f"{json.dumps(None if found is None else found.values)}\n"
    return "the backend supports nothing\n" if found is None else found.text


def _draw(path: Path, svg: str, diagnostics: Diagnostics) -> None:
    try:
        replace_file(path, os.fsencode(svg))
    except OSError as error:
        report_unwritable(path, error.strerror, diagnostics)
