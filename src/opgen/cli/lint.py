"""`opgen lint`: diagnostics, and the fixes of those that have one."""

from __future__ import annotations

import click

from opgen import pipeline
from opgen.cli.options import schema_options
from opgen.cli.report import finish
from opgen.cli.rewrite import print_diffs, read_contents, write_back
from opgen.dataclasses import replace
from opgen.diagnostics import Diagnostics
from opgen.edits import MAX_FIXES, fix_all
from opgen.model.registry import Registry
from opgen.pipeline import Inputs
from opgen.reading import Overlay


@click.command()
@schema_options
@click.option("--python", is_flag=True, help="Also what no Python binding can be made of.")
@click.option("--fix", is_flag=True, help="Mend what can be mended with certainty.")
@click.option("--diff", is_flag=True, help="Print what --fix would change; write nothing.")
def lint(
    inputs: Inputs, python: bool, fix: bool, diff: bool, report_format: str, deny_warnings: bool
) -> None:
    """Report every problem of YAML..., without generating anything.

    With --fix, a problem that has one certain answer is mended in the file; nothing else in it
    changes. With --diff, the exit code is 1 if anything is to be mended.
    """

    def check(contents: Overlay) -> tuple[Diagnostics, Registry | None]:
        diagnostics = Diagnostics(most=MAX_FIXES) if fix or diff else Diagnostics()
        overlaid = replace(inputs, overlay=contents)
        return diagnostics, pipeline.inspect(overlaid, diagnostics, python=python, refused=True)

    if not (fix or diff):
        diagnostics, registry = check({})
        finish(diagnostics, report_format, deny_warnings)
        _summarize(registry, report_format)
        return
    contents = read_contents(inputs)
    fixed = fix_all(contents, check)
    found, registry = fixed.first if diff else fixed.last
    diagnostics = found.shown()
    if diff:
        print_diffs(contents, fixed.contents, report_format)
    else:
        write_back(contents, fixed.contents, diagnostics)
        if report_format == "human":
            number = "1 problem" if fixed.count == 1 else f"{fixed.count} problems"
            more = any(item.fix is not None for item in found)
            click.echo(f"{number} mended{'; run it again for more' if more else ''}", err=True)
    finish(diagnostics, report_format, deny_warnings)
    if diff and fixed.contents:
        raise SystemExit(1)
    if not diff:
        _summarize(registry, report_format)


def _summarize(registry: Registry | None, report_format: str) -> None:
    if registry is not None and report_format == "human":
        written = sum(1 for f in registry.functions if "generated" not in f.tags)
        entries = _counted(written, "entry", "entries")
        operators = _counted(len(registry.functions), "operator", "operators")
        click.echo(f"{entries}, {operators}: no errors")


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
