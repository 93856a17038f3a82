"""`opgen lint`: report diagnostics, and apply their fixes."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from opgen.cli.help import Command, ProjectOption, Unfinished
from opgen.cli.options import schema_options
from opgen.cli.report import fails, finish, print_diagnostics, rendered
from opgen.cli.rewrite import print_diffs, read_contents, write_back
from opgen.diagnostics import Diagnostics, counted, summarize
from opgen.edits import MAX_FIXES, fix_all
from opgen.model.registry import Registry
from opgen.pipeline import linting
from opgen.pipeline.inputs import Inputs, Overlay


class KernelRun(Struct, frozen=True):
    """A run of `opgen lint --kernels`."""

    inputs: Inputs
    kernels: tuple[Path, ...]
    report_format: str
    deny_warnings: bool


@click.command(
    cls=Command,
    example="opgen lint leaky.yaml --fix",
    fails=(
        "there is an error, or something to fix with --diff; with --deny-warnings, also if there is a warning"
    ),
    pages=("lints", "diagnostics"),
)
@schema_options
@click.option(
    "--python/--no-python",
    cls=ProjectOption,
    default=False,
    help="Also report operators that cannot have a Python binding.",
)
@click.option("--fix", is_flag=True, help="Apply all fixes.")
@click.option(
    "--diff", is_flag=True, help="Print the changes that --fix would make; write nothing."
)
@click.option(
    "--kernels",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="Check these kernel sources instead: names that no entry has, headers that are not included; repeatable.",
)
def lint(
    inputs: Inputs,
    fix: bool,
    diff: bool,
    kernels: tuple[Path, ...],
    report_format: str,
    deny_warnings: bool,
) -> Unfinished | None:
    """Report all problems of schema files, and fix them.

    Generates nothing. With --fix, problems that have exactly one solution are fixed in the files; nothing else in them
    changes.
    """
    if kernels:
        if fix or diff:
            raise click.UsageError("--kernels reports problems that no --fix solves")
        run = KernelRun(inputs, kernels, report_format, deny_warnings)
        return Unfinished("lint_kernels", "lint_kernels", run)

    def check(contents: Overlay) -> tuple[Diagnostics, Registry | None]:
        diagnostics = Diagnostics(most=MAX_FIXES) if fix or diff else Diagnostics()
        overlaid = replace(inputs, overlay=contents)
        return diagnostics, linting.inspect(overlaid, diagnostics, unsupported=True)

    if not (fix or diff):
        diagnostics, registry = check({})
        _finish(registry, diagnostics, report_format, deny_warnings, hint_fix=True)
        return None
    contents = read_contents(inputs)
    fixed = fix_all(contents, check)
    found, registry = fixed.first if diff else fixed.last
    diagnostics = found.shown()
    if diff:
        print_diffs(contents, fixed.contents, report_format)
    else:
        write_back(contents, fixed.contents, diagnostics)
        if report_format == "human":
            number = counted(fixed.count, "problem")
            more = any(item.fix is not None for item in found)
            click.echo(f"{number} fixed{'; run it again for more' if more else ''}", err=True)
        _finish(registry, diagnostics, report_format, deny_warnings, hint_fix=False)
        return None
    finish(diagnostics, report_format, deny_warnings)
    if fixed.contents:
        raise SystemExit(1)
    return None


def _finish(
    registry: Registry | None,
    diagnostics: Diagnostics,
    report_format: str,
    deny_warnings: bool,
    *,
    hint_fix: bool,
) -> None:
    """Print the diagnostics, for people also their number, and exit as `finish` does.

    `hint_fix` adds how many of the problems --fix would solve.
    """
    print_diagnostics(rendered(diagnostics, report_format), report_format)
    summary = summarize(diagnostics, hint_fix=hint_fix)
    if fails(diagnostics, deny_warnings):
        if report_format == "human":
            click.echo(f"\n{summary}", err=True)
        raise SystemExit(1)
    if registry is not None and report_format == "human":
        written = {f.spans.entry for f in registry.functions if "generated" not in f.tags}
        entries = counted(len(written), "entry", "entries")
        operators = counted(len(registry.functions), "operator")
        problems = f"no errors, {summary}" if summary else "no errors"
        click.echo(f"{entries}, {operators}: {problems}")
