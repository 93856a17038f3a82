"""`opgen lint` and `opgen format`: report diagnostics, apply their fixes, and put files into the usual layout."""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Mapping
from pathlib import Path

import click
from msgspec.structs import replace

from opgen.cli.help import command
from opgen.cli.options import path_option, python_option, schema_options
from opgen.cli.report import Reporting, report_unwritable
from opgen.diagnostics import Diagnostics, counted
from opgen.diagnostics.rendering import summarize
from opgen.edits import MAX_FIXES, fix_all, format_all
from opgen.io.files import rewrite_file
from opgen.model.registry import Registry
from opgen.pipeline import checking, loading
from opgen.pipeline.inputs import Inputs, Overlay, schema_files
from opgen.pipeline.loading import read_bytes

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def unified_diff(old_name: str, new_name: str, old: str, new: str) -> str:
    """Return the differences between two texts as a unified diff, empty if there are none.

    Lines keep their ends, so `patch` turns the old text into exactly the new one.
    """
    lines = difflib.unified_diff(
        _LINES.findall(old), _LINES.findall(new), fromfile=old_name, tofile=new_name
    )
    return "".join(
        line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"
        for line in lines
    )


def _read_contents(inputs: Inputs) -> dict[Path, bytes]:
    """Read the schema files of `inputs`. Files that cannot be read are left out; the check reports them."""
    found = {path: read_bytes(path, Diagnostics()) for path in schema_files(inputs)}
    return {path: content for path, content in found.items() if content is not None}


def print_diffs(old: Mapping[Path, bytes], new: Mapping[Path, bytes], reporting: Reporting) -> None:
    """Print the differences between the old and new contents of each file of `new`."""
    for path, content in new.items():
        before, after = old[path].decode("utf-8-sig"), content.decode("utf-8-sig")
        reporting.say(unified_diff(str(path), str(path), before, after), nl=False)


def write_back(
    old: Mapping[Path, bytes], new: Mapping[Path, bytes], diagnostics: Diagnostics
) -> None:
    """Write the files of `new`; report the first that cannot be written, and stop there."""
    for path, content in new.items():
        try:
            if not path.is_file():
                why: str | None = "it is not a file"
            elif path.read_bytes() != old[path]:
                why = "it was changed in the meantime"
            else:
                rewrite_file(path, content)
                continue
        except OSError as error:
            why = error.strerror
        report_unwritable(path, why, diagnostics)
        return


@command("lint")
@schema_options
@python_option
@click.option("--fix", is_flag=True)
@click.option("--diff", is_flag=True)
@path_option("--kernels", multiple=True)
def lint(
    inputs: Inputs, fix: bool, diff: bool, kernels: tuple[Path, ...], reporting: Reporting
) -> None:
    """Report all problems of schema files, and fix them."""
    if kernels:
        if fix or diff:
            raise click.UsageError("--kernels reports problems that no --fix solves")
        build = importlib.import_module("opgen.cli.build")
        build.lint_kernels(inputs, kernels, reporting)
        return

    def check(contents: Overlay) -> tuple[Diagnostics, Registry]:
        diagnostics = Diagnostics(most=MAX_FIXES) if fix or diff else Diagnostics()
        overlaid = replace(inputs, overlay=contents)
        return diagnostics, checking.inspect(overlaid, diagnostics, unsupported=True)

    if not (fix or diff):
        diagnostics, registry = check({})
        _finish(registry, diagnostics, reporting, hint_fix=True)
        return
    contents = _read_contents(inputs)
    fixed = fix_all(contents, check)
    found, registry = fixed.first if diff else fixed.last
    diagnostics = found.shown()
    if diff:
        print_diffs(contents, fixed.contents, reporting)
    else:
        write_back(contents, fixed.contents, diagnostics)
        if reporting.is_human:
            number = counted(fixed.count, "problem")
            more = any(item.fix is not None for item in found)
            click.echo(f"{number} fixed{'; run it again for more' if more else ''}", err=True)
        _finish(registry, diagnostics, reporting, hint_fix=False)
        return
    reporting.finish(diagnostics)
    if fixed.contents:
        raise SystemExit(1)


def _finish(
    registry: Registry, diagnostics: Diagnostics, reporting: Reporting, *, hint_fix: bool
) -> None:
    """Print the diagnostics, for people also their number, and exit as `finish` does.

    `hint_fix` adds how many of the problems --fix would solve.
    """
    reporting.print(reporting.rendered(diagnostics))
    summary = summarize(diagnostics, hint_fix=hint_fix)
    if reporting.fails(diagnostics):
        if reporting.is_human:
            click.echo(f"\n{summary}", err=True)
        raise SystemExit(1)
    if reporting.is_human:
        written = {f.spans.entry for f in registry.functions if "generated" not in f.tags}
        entries = counted(len(written), "entry", "entries")
        operators = counted(len(registry.functions), "operator")
        problems = f"no errors, {summary}" if summary else "no errors"
        click.echo(f"{entries}, {operators}: {problems}")


@command("format")
@schema_options
@click.option("--check", is_flag=True)
@click.option("--diff", is_flag=True)
def format_command(inputs: Inputs, check: bool, diff: bool, reporting: Reporting) -> None:
    """Put schema files into the usual layout. Files with errors are not changed."""
    old = {path: text for path, text in _read_contents(inputs).items() if path in inputs.yaml}

    def check_blanks(contents: Overlay) -> tuple[Diagnostics, Diagnostics]:
        return loading.misplaced_blanks(replace(inputs, overlay=contents))

    changed, diagnostics = format_all(old, check_blanks)
    if diagnostics.has_errors:
        reporting.finish(diagnostics)
    if diff:
        print_diffs(old, changed, reporting)
    if not (check or diff):
        write_back(old, changed, diagnostics)
    reporting.finish(diagnostics)
    for path in changed:
        click.echo(f"{'would format' if check or diff else 'formatted'} {path}", err=True)
    if not changed:
        click.echo(f"{counted(len(old), 'file is', 'files are')} formatted", err=True)
    if changed and (check or diff):
        raise SystemExit(1)
