"""`opgen generate`: write the tree."""

from __future__ import annotations

import os
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.options import FOLDER, python_option, schema_options, shards_option
from opgen.cli.report import finish
from opgen.diagnostics import Diagnostics
from opgen.files import replace_file
from opgen.manifest import MANIFEST
from opgen.pipeline import Inputs
from opgen.writer import WriteReport, write


@click.command()
@schema_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=FOLDER,
    help="The folder that receives the tree.",
)
@shards_option
@python_option
@click.option(
    "--depfile", type=click.Path(path_type=Path), help="Write a Makefile of what was read."
)
@click.option(
    "--list-outputs", is_flag=True, help="Print the files that would be made; write nothing."
)
def generate(
    inputs: Inputs,
    output: Path,
    shards: int,
    python: bool,
    depfile: Path | None,
    list_outputs: bool,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Write the C++ tree for YAML... into a folder.

    Touches only files whose bytes change, removes those it wrote before and no longer makes, and
    never a file that it did not write.
    """
    diagnostics = Diagnostics()
    tree = pipeline.build_tree(inputs, diagnostics, shards=shards, python=python)
    if tree is None or (deny_warnings and diagnostics.has_warnings):
        finish(diagnostics, report_format, deny_warnings)
        return
    if list_outputs:
        finish(diagnostics, report_format, deny_warnings)
        for path in sorted((*tree.files, MANIFEST)):
            click.echo((output / path).as_posix())
        return
    written = write(tree, output, diagnostics)
    if depfile is not None and not diagnostics.has_errors:
        _write_depfile(depfile, output, inputs, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    click.echo(_summary(written, output))


def _summary(written: WriteReport, output: Path) -> str:
    parts = [f"{len(written.written)} written", f"{len(written.unchanged)} unchanged"]
    if written.removed:
        parts.append(f"{len(written.removed)} removed")
    if written.kept:
        parts.append(f"{len(written.kept)} no longer made but edited by hand, kept")
    return f"{output}: {', '.join(parts)}"


def _write_depfile(depfile: Path, output: Path, inputs: Inputs, diagnostics: Diagnostics) -> None:
    sources = " ".join(_escaped(path) for path in pipeline.input_files(inputs))
    text = f"{_escaped(output / MANIFEST)}: {sources}\n"
    try:
        depfile.parent.mkdir(parents=True, exist_ok=True)
        replace_file(depfile, os.fsencode(text))
    except OSError as error:
        diagnostics.error("E0904", f"cannot write {depfile}: {error.strerror}", None)


def _escaped(path: Path) -> str:
    """`path` as a Makefile writes it."""
    return str(path).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
