"""`opgen check`: is the generated tree up to date?"""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

from opgen.cli.help import Command
from opgen.cli.options import is_given, output_option, python_option, schema_options, shards_option
from opgen.cli.report import finish
from opgen.cli.streams import say
from opgen.diagnostics import Diagnostics
from opgen.io.stale import Comparison, Stale, compare
from opgen.pipeline import generating
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.run_options import (
    command_words,
    describe_difference,
    inputs_recorded,
    options_to_type,
    recorded_target,
)


@click.command(
    cls=Command,
    example="opgen check leaky.yaml -o build",
    fails="there is an error, or a file is stale, missing or left over; with --deny-warnings, also if there is a warning",
    pages=("ci",),
)
@schema_options
@output_option("The folder that holds the tree.")
@shards_option
@python_option
def check(
    inputs: Inputs,
    output: Path,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Report generated files that are not up to date.

    Generates in memory, and compares every byte with the folder. Prints a unified diff of files that are stale, missing or
    left over. Use the options with which the folder was generated; its target is known.
    """
    diagnostics = Diagnostics()
    inputs = _for_target_of(output, inputs)
    tree = generating.build_tree(inputs, diagnostics)
    found = Comparison() if tree is None else compare(tree, output, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    if not found.stale:
        say(f"{output}: up to date", report_format)
        return
    assert tree is not None
    for entry in found.stale:
        say(_describe(entry), report_format, nl=False)
    noun = "file differs" if len(found.stale) == 1 else "files differ"
    differ = f"{output}: {len(found.stale)} {noun}"
    was = inputs_recorded(found.header, tree.header, inputs)
    if was is None:
        click.echo(f"{differ}; run opgen generate to bring it up to date", err=True)
    else:
        command = command_words(
            "opgen", "check", *inputs.yaml, "-o", output, options=options_to_type(was)
        )
        made = f"the folder was made {describe_difference(was, inputs)}, unlike this run"
        click.echo(
            f"{differ}; {made}; to check it with its own options, type\n  {command}", err=True
        )
    raise SystemExit(1)


def _for_target_of(output: Path, inputs: Inputs) -> Inputs:
    """Return the inputs for the target of a folder's manifest, if neither the command line nor the settings name one."""
    if is_given("target") or inputs.target != "runtime":
        return inputs
    target = recorded_target(output)
    return inputs if target is None else replace(inputs, target=target)


def _describe(entry: Stale) -> str:
    return entry.diff or f"{entry.kind}: {entry.path}\n"
