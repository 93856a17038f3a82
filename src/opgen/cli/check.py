"""`opgen check`: is the generated tree up to date?"""

from __future__ import annotations

from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.options import FOLDER, python_option, schema_options, shards_option
from opgen.cli.report import finish
from opgen.cli.streams import say
from opgen.diagnostics import Diagnostics
from opgen.pipeline import Inputs
from opgen.stale import Stale, compare


@click.command()
@schema_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=FOLDER,
    help="The folder that holds the tree.",
)
@shards_option
@python_option
def check(
    inputs: Inputs,
    output: Path,
    shards: int,
    python: bool,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Generate in memory and compare every byte with a folder.

    Exits 1 with a unified diff of what is stale, missing or left over.
    """
    diagnostics = Diagnostics()
    tree = pipeline.build_tree(inputs, diagnostics, shards=shards, python=python)
    stale = () if tree is None else compare(tree, output, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    if not stale:
        say(f"{output}: up to date", report_format)
        return
    for entry in stale:
        say(_described(entry), report_format, nl=False)
    noun = "file differs" if len(stale) == 1 else "files differ"
    click.echo(
        f"{output}: {len(stale)} {noun}; run opgen generate to bring it up to date", err=True
    )
    raise SystemExit(1)


def _described(entry: Stale) -> str:
    return entry.diff or f"{entry.kind}: {entry.path}\n"
