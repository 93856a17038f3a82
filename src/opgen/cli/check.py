"""`opgen check`: is the generated tree up to date?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
from msgspec.structs import replace

from opgen.cli.help import command
from opgen.cli.lint import unified_diff
from opgen.cli.options import is_given, schema_options, tree_options
from opgen.cli.report import Reporting
from opgen.diagnostics import Diagnostics, counted
from opgen.io.manifest import MANIFEST, Manifest, manifest_bytes, read_manifest
from opgen.io.writer import Tree, list_folders, read
from opgen.pipeline import generating
from opgen.pipeline.inputs import (
    Inputs,
    command_words,
    describe_difference,
    inputs_recorded,
    options_to_type,
    recorded_target,
)


def compare(tree: Tree, directory: Path, old: Manifest) -> Iterator[str]:
    """Yield a text for each path, in their order, at which `directory` differs from `tree`. Reads every byte."""
    wanted = {**tree.contents(), MANIFEST: manifest_bytes(tree.manifest())}
    paths = sorted({*wanted, *old.paths})
    found = list_folders(directory, paths) if os.path.isdir(directory) else None
    for path in paths:
        there = found is not None and path in found.files
        actual = read(f"{directory}/{path}")[1] if there else None
        if path not in wanted:
            if actual is not None:
                yield f"left over: {path}\n"
        elif found is not None and (kind := found.other_kind(path)) is not None:
            # The file that a link leads to may be right, but `generate` would reject the link.
            yield f"{kind}: {path}\n"
        elif actual is None:
            yield f"missing: {path}\n"
        elif actual != wanted[path]:
            names = f"{path} (on disk)", f"{path} (generated)"
            diff = unified_diff(*names, actual.decode(errors="replace"), wanted[path].decode())
            yield diff or f"stale: {path}\n"


@command("check")
@schema_options
@tree_options
def check(inputs: Inputs, output: Path, reporting: Reporting) -> None:
    """Generate in memory, and compare every byte with the folder."""
    diagnostics = Diagnostics()
    if not is_given("target") and inputs.target == "runtime":
        # The folder was perhaps made for another target.
        inputs = replace(inputs, target=recorded_target(output) or "runtime")
    tree = generating.build_tree(inputs, diagnostics)
    old = None if tree is None else read_manifest(output, diagnostics)
    reporting.finish(diagnostics)
    assert tree is not None and old is not None
    stale = list(compare(tree, output, old))
    if not stale:
        reporting.say(f"{output}: up to date")
        return
    reporting.say("".join(stale), nl=False)
    differ = f"{output}: {counted(len(stale), 'file differs', 'files differ')}"
    was = inputs_recorded(old.header, tree.header, inputs)
    if was is None:
        click.echo(f"{differ}; run opgen generate to bring it up to date", err=True)
    else:
        typed = command_words(
            "opgen", "check", *inputs.yaml, "-o", output, options=options_to_type(was)
        )
        made = f"the folder was made {describe_difference(was, inputs)}, unlike this run"
        click.echo(f"{differ}; {made}; to check it with its own options, type\n  {typed}", err=True)
    raise SystemExit(1)
