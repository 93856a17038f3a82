"""Do the work of `opgen generate`, if there is any, and write files for build systems."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import click

from opgen.cli.generate import Generation
from opgen.cli.report import report_unwritable, write_output
from opgen.data import own_files
from opgen.diagnostics import Diagnostics
from opgen.io.manifest import MANIFEST
from opgen.io.writer import WriteReport, read, report_author_files
from opgen.pipeline import generating
from opgen.pipeline.generating import write_tree
from opgen.pipeline.inputs import Inputs, input_files
from opgen.pipeline.stamp import leave_stamp

_LINE_END = re.compile(r"[\n\r]")


def _write_depfile(
    depfile: Path, targets: Iterable[Path], inputs: Iterable[Path], diagnostics: Diagnostics
) -> None:
    """Write a Makefile in which `targets` depend on `inputs`; report E0904 if that fails."""
    targets, inputs = tuple(targets), tuple(inputs)
    for path in (*targets, *inputs):
        if _LINE_END.search(str(path)):
            why = f"a Makefile cannot contain the line break in {str(path)!r}"
            report_unwritable(depfile, why, diagnostics)
            return
    text = f"{_escape(targets)}: {_escape(inputs)}\n"
    write_output(depfile, os.fsencode(text), diagnostics)


def _escape(paths: Iterable[Path]) -> str:
    """Escape `paths` for a Makefile."""
    return " ".join(
        str(path).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ") for path in paths
    )


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
            run.reporting.finish(diagnostics)
        else:
            run.reporting.print(run.stamp.report)
    else:
        diagnostics, written = _write_tree(run)
        _write_lists(run, written.states, diagnostics)
        summary = _summary(written)
        run.reporting.finish(diagnostics)
    run.reporting.say(f"{run.output}: {summary}")


def _write_tree(run: Generation) -> tuple[Diagnostics, WriteReport]:
    """Write the tree and the stamp; end the process if there is nothing to write."""
    diagnostics, inputs = Diagnostics(), run.request.inputs
    # Kept apart: a later run that does nothing prints the report of this run again, without these.
    early = Diagnostics()
    tree = generating.build_tree(inputs, diagnostics)
    if tree is not None and not run.list_outputs:
        report_author_files(tree.files.keys(), run.output, early)
    denied = run.reporting.deny_warnings and (diagnostics.has_warnings or early.has_warnings)
    if tree is None or run.list_outputs or denied:
        diagnostics.extend(early)
        files = () if tree is None else sorted((*tree.files, MANIFEST))
        listed = "".join(f"{(run.output / path).as_posix()}\n" for path in files)
        run.reporting.finish_with(listed, diagnostics)
        raise SystemExit
    run.reporting.announce(early)
    written = write_tree(tree, inputs, run.output, diagnostics)
    if not diagnostics.has_errors:
        report = run.reporting.rendered(diagnostics)
        leave_stamp(run.output, run.request, written.states, report)
    if not run.reporting.is_human:
        diagnostics.extend(early)
    return diagnostics, written


def _write_lists(run: Generation, outputs: Iterable[str], diagnostics: Diagnostics) -> None:
    """Write the files that build systems asked for, unless there are errors."""
    if run.output_list is not None and not diagnostics.has_errors:
        text = "".join(f"{output}\n" for output in sorted(outputs)).encode()
        # Build systems look at the time of the file.
        if read(os.fspath(run.output_list))[1] != text:
            write_output(run.output_list, text, diagnostics)
    if run.depfile is not None and not diagnostics.has_errors:
        targets = [path for path in (run.output_list, run.output / MANIFEST) if path is not None]
        _write_depfile(run.depfile, targets, _files_read(run.request.inputs), diagnostics)


def _files_read(inputs: Inputs) -> tuple[Path, ...]:
    return (*input_files(inputs), *map(Path, own_files()))


def _summary(written: WriteReport) -> str:
    counts = (
        (written.removed, "removed"),
        (written.edited, "no longer generated but edited by hand, kept"),
        (written.unknown, "no longer generated but perhaps edited by hand, kept"),
    )
    parts = [f"{len(written.written)} written", f"{len(written.unchanged)} unchanged"]
    return ", ".join(parts + [f"{len(paths)} {what}" for paths, what in counts if paths])
