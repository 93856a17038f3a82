"""`opgen schema`: JSON Schemas of the files that people and programs read and write."""

from __future__ import annotations

import json
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.report import finish
from opgen.diagnostics import Diagnostics


@click.command()
@click.argument("what", type=click.Choice(pipeline.SCHEMAS), default=pipeline.SCHEMAS[0])
@click.option(
    "--tags",
    type=click.Path(path_type=Path),
    help="The tags file, of whose tags entries may have.  [default: the built-in list]",
)
@click.option(
    "--strict-torchgen",
    is_flag=True,
    help="Of native_functions: only what torchgen takes, as for a file of PyTorch's own.",
)
def schema(what: str, tags: Path | None, strict_torchgen: bool) -> None:
    """Print the JSON Schema of a file, for an editor or a validator.

    native_functions and tags: the YAML files. diagnostics: one line of --format json.
    """
    diagnostics = Diagnostics()
    found = pipeline.json_schema(what, tags, diagnostics, strict_torchgen=strict_torchgen)
    finish(diagnostics, "human", deny_warnings=False)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False))
