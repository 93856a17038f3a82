"""Do the work of `opgen generate`, if there is any."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from opgen.cli.depfile import write_depfile, write_output_list
from opgen.cli.generate import Generation
from opgen.cli.report import announce, finish, finish_with, rendered
from opgen.cli.streams import print_diagnostics, say
from opgen.diagnostics import Diagnostics
from opgen.io.manifest import MANIFEST
from opgen.io.new_folder import report_author_files
from opgen.io.resources import own_files
from opgen.io.writer import Tree, WriteReport
from opgen.pipeline import generating
from opgen.pipeline.committed import write_tree
from opgen.pipeline.inputs import Inputs, input_files
from opgen.pipeline.stamp import leave_stamp


def generate(run: Generation) -> None:
    """Write the tree, unless the stamp says that it is up to date, and the files for build systems; or list files."""
    if run.list_inputs:
        click.echo("\n".join(map(str, _files_read(run.request.inputs))))
        return
    if run.stamp is not None:
        diagnostics = Diagnostics()
        _write_lists(run, run.stamp.outputs, diagnostics)
        summary = f"0 written, {run.stamp.unchanged} unchanged"
        if len(diagnostics):
            finish(diagnostics, run.report_format, run.deny_warnings)
        else:
            print_diagnostics(run.stamp.report, run.report_format)
    else:
        diagnostics, written = _write_tree(run)
        _write_lists(run, written.states, diagnostics)
        summary = _summary(written)
        finish(diagnostics, run.report_format, run.deny_warnings)
    say(f"{run.output}: {summary}", run.report_format)


def _write_tree(run: Generation) -> tuple[Diagnostics, WriteReport]:
    """Write the tree and the stamp; end the process if there is nothing to write."""
    diagnostics, inputs = Diagnostics(), run.request.inputs
    # Kept apart: a later run that does nothing prints the report of this run again, without these.
    early = Diagnostics()
    tree = generating.build_tree(inputs, diagnostics)
    if tree is not None and not run.list_outputs:
        report_author_files(tree.files.keys(), run.output, early)
    denied = run.deny_warnings and (diagnostics.has_warnings or early.has_warnings)
    if tree is None or run.list_outputs or denied:
        diagnostics.extend(early)
        listed = "" if tree is None else _listed_outputs(tree, run.output)
        finish_with(listed, diagnostics, run.report_format, run.deny_warnings)
        raise SystemExit
    announce(early, run.report_format)
    written = write_tree(tree, inputs, run.output, diagnostics)
    if not diagnostics.has_errors:
        report = rendered(diagnostics, run.report_format)
        leave_stamp(run.output, run.request, written.states, report)
    if run.report_format != "human":
        diagnostics.extend(early)
    return diagnostics, written


def _write_lists(run: Generation, outputs: Iterable[str], diagnostics: Diagnostics) -> None:
    """Write the files that build systems asked for, unless there are errors."""
    if run.output_list is not None and not diagnostics.has_errors:
        write_output_list(run.output_list, sorted(outputs), diagnostics)
    if run.depfile is not None and not diagnostics.has_errors:
        targets = [path for path in (run.output_list, run.output / MANIFEST) if path is not None]
        write_depfile(run.depfile, targets, _files_read(run.request.inputs), diagnostics)


def _files_read(inputs: Inputs) -> tuple[Path, ...]:
    return (*input_files(inputs), *map(Path, own_files()))


def _listed_outputs(tree: Tree, output: Path) -> str:
    return "".join(f"{(output / path).as_posix()}\n" for path in sorted((*tree.files, MANIFEST)))


def _summary(written: WriteReport) -> str:
    parts = [f"{len(written.written)} written", f"{len(written.unchanged)} unchanged"]
    if written.removed:
        parts.append(f"{len(written.removed)} removed")
    if written.edited:
        parts.append(f"{len(written.edited)} no longer generated but edited by hand, kept")
    if written.unknown:
        parts.append(f"{len(written.unknown)} no longer generated but perhaps edited by hand, kept")
    return ", ".join(parts)
