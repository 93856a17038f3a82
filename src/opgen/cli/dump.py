"""`opgen dump`: print what opgen derived, as JSON."""

from __future__ import annotations

import json

import click

from opgen.cli.help import Choice, Command
from opgen.cli.options import schema_options
from opgen.cli.report import finish_with
from opgen.diagnostics import Diagnostics
from opgen.pipeline import loading, queries
from opgen.pipeline.inputs import Inputs

_STAGES = ("model", "registry", "signatures", "registrations", "files", "derivatives")


@click.command(
    cls=Command,
    example="opgen dump leaky.yaml --op ramp --stage registrations",
    pages=("api",),
)
@schema_options
@click.option(
    "--op", metavar="NAME", help="Only operators of this name (with or without overload)."
)
@click.option(
    "--stage",
    type=Choice(_STAGES),
    default="signatures",
    show_default=True,
    help="The last stage to run.",
)
@click.option("--ndjson", is_flag=True, help="Print one object per line instead of an array.")
@click.option("--extra", is_flag=True, help="Also print fields that no later stage uses.")
def dump(
    inputs: Inputs,
    op: str | None,
    stage: str,
    ndjson: bool,
    extra: bool,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Print what opgen derives from the YAML, as JSON.

    Rows are sorted by name and schema. Each stage includes the results of the stages before it.
    """
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    rows = () if registry is None else queries.dump(registry, inputs, stage, op, extra, diagnostics)
    parts = rows if ndjson else (rows,)
    text = "".join(f"{json.dumps(part, ensure_ascii=False)}\n" for part in parts)
    finish_with(text, diagnostics, report_format, deny_warnings)
