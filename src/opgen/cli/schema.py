"""`opgen schema`: print JSON Schemas of opgen's files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from opgen.cli.help import Argument, Choice, Command
from opgen.cli.report import finish
from opgen.diagnostics import Diagnostics
from opgen.pipeline import queries


@click.command(
    cls=Command,
    example="opgen schema native_functions",
    fails="the tags file has an error",
    pages=("ci", "keys"),
)
@click.argument(
    "what",
    type=Choice(queries.SCHEMAS),
    default=queries.SCHEMAS[0],
    cls=Argument,
    rows=(("WHAT", f"{', '.join(queries.SCHEMAS)}.  [default: {queries.SCHEMAS[0]}]"),),
)
@click.option(
    "--tags",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file of the tags that entries may have.  [default: the built-in list]",
)
@click.option(
    "--strict-torchgen",
    is_flag=True,
    help="For native_functions and derivatives: allow only what torchgen accepts, as in PyTorch's own file.",
)
def schema(what: str, tags: Path | None, strict_torchgen: bool) -> None:
    """Print the JSON Schema of a file, for an editor or a validator.

    native_functions, derivatives and tags are the YAML files, diagnostics is a line of --format json.
    """
    diagnostics = Diagnostics()
    found = queries.json_schema(what, tags, diagnostics, strict_torchgen=strict_torchgen)
    finish(diagnostics, "human", deny_warnings=False)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False))
