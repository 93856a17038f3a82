"""`opgen check`: is the generated tree up to date?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from msgspec import Struct, field
from msgspec.structs import replace

from opgen.cli.help import command
from opgen.cli.lint import unified_diff
from opgen.cli.options import (
    frameworks_option,
    is_given,
    output_option,
    python_option,
    schema_options,
    shards_option,
)
from opgen.cli.report import Reporting
from opgen.diagnostics import Diagnostics
from opgen.io.manifest import MANIFEST, manifest_bytes, read_manifest
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


class Stale(Struct, frozen=True):
    """A path at which a folder differs from the generated tree."""

    path: str
    # "stale", "missing", "left over", or a description of what is there, such as "a link".
    kind: str
    diff: str


class Comparison(Struct, frozen=True):
    """Every path at which a folder differs from a tree, sorted, and the header of the folder's manifest."""

    stale: tuple[Stale, ...] = ()
    header: Mapping[str, Any] = field(default_factory=dict)


def compare(tree: Tree, directory: Path, diagnostics: Diagnostics) -> Comparison:
    """Compare `directory` with `tree`. Reads every byte."""
    old = read_manifest(directory, diagnostics)
    if old is None:
        return Comparison()
    contents = tree.contents()
    wanted = {**contents, MANIFEST: manifest_bytes(tree.manifest())}
    top = os.fspath(directory)
    paths = sorted({*wanted, *old.paths})
    found = list_folders(directory, paths) if os.path.isdir(directory) else None
    stale = []
    for path in paths:
        there = found is not None and path in found.files
        actual = read(f"{top}/{path}")[1] if there else None
        if path not in wanted:
            if actual is not None:
                stale.append(Stale(path, "left over", ""))
        elif found is not None and (kind := found.other_kind(path)) is not None:
            # The file that a link leads to may be right, but `generate` would reject the link.
            stale.append(Stale(path, kind, ""))
        elif actual is None:
            stale.append(Stale(path, "missing", ""))
        elif actual != wanted[path]:
            names = f"{path} (on disk)", f"{path} (generated)"
            old_text = actual.decode(errors="replace")
            diff = unified_diff(*names, old_text, wanted[path].decode())
            stale.append(Stale(path, "stale", diff))
    return Comparison(tuple(stale), old.header)


@command("check")
@schema_options
@output_option
@shards_option
@python_option
@frameworks_option
def check(inputs: Inputs, output: Path, reporting: Reporting) -> None:
    """Generate in memory, and compare every byte with the folder."""
    diagnostics = Diagnostics()
    if not is_given("target") and inputs.target == "runtime":
        # The folder was perhaps made for another target.
        inputs = replace(inputs, target=recorded_target(output) or "runtime")
    tree = generating.build_tree(inputs, diagnostics)
    found = Comparison() if tree is None else compare(tree, output, diagnostics)
    reporting.finish(diagnostics)
    if not found.stale:
        reporting.say(f"{output}: up to date")
        return
    assert tree is not None
    for entry in found.stale:
        reporting.say(entry.diff or f"{entry.kind}: {entry.path}\n", nl=False)
    noun = "file differs" if len(found.stale) == 1 else "files differ"
    differ = f"{output}: {len(found.stale)} {noun}"
    was = inputs_recorded(found.header, tree.header, inputs)
    if was is None:
        click.echo(f"{differ}; run opgen generate to bring it up to date", err=True)
    else:
        typed = command_words(
            "opgen", "check", *inputs.yaml, "-o", output, options=options_to_type(was)
        )
        made = f"the folder was made {describe_difference(was, inputs)}, unlike this run"
        click.echo(f"{differ}; {made}; to check it with its own options, type\n  {typed}", err=True)
    raise SystemExit(1)
