"""What `opgen generate` does if there is something to do."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.depfile import write_depfile, write_output_list
from opgen.cli.report import finish, finish_with, rendered
from opgen.cli.streams import print_diagnostics, say
from opgen.diagnostics import Diagnostics
from opgen.manifest import MANIFEST
from opgen.pipeline import Inputs
from opgen.pipeline.stamp import Request, Stamp
from opgen.resources import own_files
from opgen.writer import Outdated, Tree, WriteReport, write


def generate(
    request: Request,
    stamp: Stamp | None,
    output: Path,
    *,
    shards: int,
    python: bool,
    depfile: Path | None,
    output_list: Path | None,
    list_outputs: bool,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Write the tree, unless a `stamp` says that it is there, and what build systems ask for; or list the tree."""
    diagnostics = Diagnostics()
    if stamp is not None and stamp.is_current:
        outputs: Iterable[str] = stamp.outputs
        summary = f"0 written, {stamp.unchanged} unchanged"
    else:
        written = None if stamp is None else _write_edit(request, stamp, output, shards, python)
        if written is None:
            tree = pipeline.build_tree(request.inputs, diagnostics, shards=shards, python=python)
            if tree is None or list_outputs or (deny_warnings and diagnostics.has_warnings):
                listed = "" if tree is None else _listed_outputs(tree, output)
                finish_with(listed, diagnostics, report_format, deny_warnings)
                return
            written = write(tree, output, diagnostics)
        if not diagnostics.has_errors:
            shown = rendered(diagnostics, report_format)
            pipeline.leave_stamp(output, request, written.states, shown)
        outputs = written.states
        summary = _summary(written)
    if output_list is not None and not diagnostics.has_errors:
        write_output_list(output_list, sorted(outputs), diagnostics)
    if depfile is not None and not diagnostics.has_errors:
        targets = [path for path in (output_list, output / MANIFEST) if path is not None]
        write_depfile(depfile, targets, _files_read(request.inputs), diagnostics)
    if stamp is not None and stamp.is_current and not len(diagnostics):
        print_diagnostics(stamp.report, report_format)
    else:
        finish(diagnostics, report_format, deny_warnings)
    say(f"{output}: {summary}", report_format)


def _write_edit(
    request: Request, stamp: Stamp, output: Path, shards: int, python: bool
) -> WriteReport | None:
    """Write what a few edited entries change; None, and nothing is touched, if all is to be made anew."""
    tree = pipeline.edited_tree(request, stamp, output, shards=shards, python=python)
    if tree is None:
        return None
    diagnostics = Diagnostics()
    with suppress(Outdated):
        written = write(tree, output, diagnostics, stamp.states())
        return None if diagnostics.has_errors else written
    return None


def list_inputs(inputs: Inputs) -> None:
    """Print the files that a run would read."""
    click.echo("\n".join(map(str, _files_read(inputs))))


def _files_read(inputs: Inputs) -> tuple[Path, ...]:
    return (*pipeline.input_files(inputs), *map(Path, own_files()))


def _listed_outputs(tree: Tree, output: Path) -> str:
    return "".join(f"{(output / path).as_posix()}\n" for path in sorted((*tree.files, MANIFEST)))


def _summary(written: WriteReport) -> str:
    parts = [f"{len(written.written)} written", f"{len(written.unchanged)} unchanged"]
    if written.removed:
        parts.append(f"{len(written.removed)} removed")
    if written.kept:
        parts.append(f"{len(written.kept)} no longer made but edited by hand, kept")
    return ", ".join(parts)
