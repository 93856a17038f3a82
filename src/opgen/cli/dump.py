"""`opgen dump`: what opgen derived, as JSON."""

from __future__ import annotations

import json

import click

from opgen import pipeline
from opgen.cli.options import schema_options
from opgen.cli.report import finish_with
from opgen.diagnostics import Diagnostics
from opgen.pipeline import Inputs


@click.command()
@schema_options
@click.option("--op", help="Only the operators of this name (with or without overload).")
@click.option(
    "--stage",
    type=click.Choice(["model", "registry", "signatures", "registrations", "views"]),
    default="signatures",
    show_default=True,
    help="How far down the road.",
)
@click.option("--ndjson", is_flag=True, help="One object a line instead of one array.")
@click.option("--extra", is_flag=True, help="Fields that only a reader of the dump wants.")
def dump(
    inputs: Inputs,
    op: str | None,
    stage: str,
    ndjson: bool,
    extra: bool,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Print what opgen derived from YAML... as JSON, sorted by name and schema."""
    diagnostics = Diagnostics()
    registry = pipeline.load(inputs, diagnostics)
    rows = (
        () if registry is None else pipeline.dump(registry, inputs, stage, op, extra, diagnostics)
    )
    parts = rows if ndjson else (rows,)
    text = "".join(f"{json.dumps(part, ensure_ascii=False)}\n" for part in parts)
    finish_with(text, diagnostics, report_format, deny_warnings)
