"""`opgen lint`: diagnostics, and nothing else."""

from __future__ import annotations

import click

from opgen import pipeline
from opgen.cli.options import schema_options
from opgen.cli.report import finish
from opgen.diagnostics import Diagnostics
from opgen.pipeline import Inputs


@click.command()
@schema_options
@click.option("--python", is_flag=True, help="Also what no Python binding can be made of.")
def lint(inputs: Inputs, python: bool, report_format: str, deny_warnings: bool) -> None:
    """Report every problem of YAML..., without generating anything."""
    diagnostics = Diagnostics()
    registry = pipeline.load(inputs, diagnostics)
    if registry is not None:
        pipeline.check_target(registry, inputs, diagnostics)
        pipeline.read_additions(registry, inputs, diagnostics)
        if python:
            pipeline.check_python(registry, inputs, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    if registry is not None and report_format == "human":
        written = sum(1 for f in registry.functions if "generated" not in f.tags)
        entries = "1 entry" if written == 1 else f"{written} entries"
        click.echo(f"{entries}, {len(registry.functions)} operators: no errors")
