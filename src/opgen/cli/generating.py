"""What `opgen generate` does if there is something to do."""

from __future__ import annotations

import os
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.report import finish, rendered
from opgen.diagnostics import Diagnostics
from opgen.files import replace_file
from opgen.manifest import MANIFEST
from opgen.pipeline import Inputs
from opgen.pipeline.stamp import Request, Stamp
from opgen.writer import Tree, WriteReport, write


def generate(
    request: Request,
    stamp: Stamp | None,
    output: Path,
    *,
    shards: int,
    python: bool,
    depfile: Path | None,
    list_outputs: bool,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Write the tree, unless a `stamp` says that it is there, and the depfile; or list the tree."""
    diagnostics = Diagnostics()
    if stamp is not None:
        click.echo(stamp.report, nl=False, err=True)
        summary = f"0 written, {stamp.unchanged} unchanged"
    else:
        tree = pipeline.build_tree(request.inputs, diagnostics, shards=shards, python=python)
        if tree is None or list_outputs or (deny_warnings and diagnostics.has_warnings):
            finish(diagnostics, report_format, deny_warnings)
            assert tree is not None
            _list_outputs(tree, output)
            return
        written = write(tree, output, diagnostics)
        if not diagnostics.has_errors:
            shown = rendered(diagnostics, report_format)
            pipeline.leave_stamp(output, request, written.states, shown)
        summary = _summary(written)
    if depfile is not None and not diagnostics.has_errors:
        _write_depfile(depfile, output, request.inputs, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    click.echo(f"{output}: {summary}")


def _list_outputs(tree: Tree, output: Path) -> None:
    for path in sorted((*tree.files, MANIFEST)):
        click.echo((output / path).as_posix())


def _summary(written: WriteReport) -> str:
    parts = [f"{len(written.written)} written", f"{len(written.unchanged)} unchanged"]
    if written.removed:
        parts.append(f"{len(written.removed)} removed")
    if written.kept:
        parts.append(f"{len(written.kept)} no longer made but edited by hand, kept")
    return ", ".join(parts)


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
