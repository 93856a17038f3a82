"""`opgen verify`: check that operators do what their schemas say."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from opgen.cli.help import Choice, command
from opgen.cli.options import (
    DEFAULT_YAML,
    find_settings,
    format_option,
    jobs_option,
    path_option,
    split_arguments,
)
from opgen.cli.report import Reporting, print_document, show_progress, wants_color, write_output
from opgen.diagnostics import Diagnostics, OpgenError, describe, properties
from opgen.diagnostics.rendering import render_github, render_human, render_sarif
from opgen.diagnostics.suggestions import did_you_mean
from opgen.pipeline.inputs import recorded_target
from opgen.pipeline.kernel_sources import BUILD_FOLDER
from opgen.python.frameworks import FRAMEWORKS
from opgen.verify.api import Report
from opgen.verify.api import verify as run
from opgen.verify.reports import (
    findings,
    progress_line,
    render_findings,
    render_html,
    render_json,
    render_junit,
    render_rest,
    split_findings,
)
from opgen.verify.runner.messages import NOT_TESTED, OperatorReport
from opgen.verify.runner.session import Verification, VerificationError

_FORMATS: Mapping[str, Callable[[Verification], str]] = {
    "json": render_json,
    "junit": render_junit,
    "sarif": lambda found: render_sarif(findings(found)),
    "github": lambda found: render_github(findings(found)),
}
# By the ends of files.
_RENDERERS = {
    ".json": render_json,
    ".xml": render_junit,
    ".sarif": _FORMATS["sarif"],
    ".html": render_html,
}


def _complete_property(
    _: click.Context, __: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=describe(code).title)
        for name, code in properties.PROPERTIES.items()
        if name.startswith(incomplete)
    ]


@command("verify")
@click.argument("given", nargs=-1)
@path_option("--build")
@click.option("--load", "loads", multiple=True)
@path_option("--path", "folders", multiple=True)
@click.option("--torch-namespace", "namespaces", multiple=True)
@click.option("--target", type=Choice(("runtime", "torch")))
@click.option("--framework", type=Choice(tuple(FRAMEWORKS)))
@path_option("--domains", "domain_files", multiple=True)
@click.option("--property", "properties", multiple=True, shell_complete=_complete_property)
@click.option("--quick", "mode", flag_value="quick")
@click.option("--thorough", "mode", flag_value="thorough")
@click.option("--seed", type=int, default=0)
@jobs_option
@format_option("human", *_FORMATS)
@path_option("--report", "reports", multiple=True)
@path_option("--programs")
@click.option("--deny-untested", is_flag=True)
def verify(
    given: tuple[str, ...],
    build: Path | None,
    loads: tuple[str, ...],
    folders: tuple[Path, ...],
    namespaces: tuple[str, ...],
    target: str | None,
    framework: str | None,
    properties: tuple[str, ...],
    mode: str | None,
    report_format: str,
    reports: tuple[Path, ...],
    programs: Path | None,
    deny_untested: bool,
    **others: Any,
) -> None:
    """Check that operators do what their schemas say."""
    files, operators = split_arguments(given)
    project = find_settings(files, "human" if report_format == "junit" else report_format)
    settings = {} if project is None or namespaces else project.values_for(files)
    output = settings.get("output")
    if build is None and not loads and output is not None and (output / BUILD_FOLDER).is_dir():
        build = output
    built_for = None if build is None else recorded_target(build)
    chosen = target or ("torch" if namespaces else built_for or settings.get("target"))
    chosen = "torch" if chosen == "torch-stable" else chosen or "runtime"
    # By namespaces, operators are selected without the schema file of this folder.
    is_read = chosen == "runtime" or (not namespaces and DEFAULT_YAML.exists())
    files = files or settings.get("yaml") or ((DEFAULT_YAML,) if is_read else ())
    if framework and chosen != "runtime":
        raise click.UsageError(f"{framework} calls libraries for target runtime")
    loaded, found_folders = _library(build, loads, chosen)
    for path in reports:
        if path.suffix not in _RENDERERS:
            message = f"{path} ends in none of {', '.join(_RENDERERS)}"
            raise click.BadParameter(message, param_hint="'--report'")
    diagnostics = Diagnostics()
    progress = _Progress(report_format)
    try:
        report = run(
            files,
            load=loaded,
            target=chosen,
            framework=framework or "",
            namespaces=namespaces,
            only=operators,
            properties=[_property(name) for name in properties],
            folders=[*found_folders, *folders],
            mode=mode or "default",
            progress=progress.tell,
            **others,
        )
    except OpgenError as error:
        click.echo(render_human(error.diagnostics, color=wants_color()), err=True, nl=False)
        raise SystemExit(1) from None
    except VerificationError as error:
        raise click.ClickException(str(error)) from None
    finally:
        progress.end()
    _write(report, reports, programs, diagnostics)
    if report_format == "human":
        # The findings are printed already.
        click.echo(render_rest(report.verification, color=wants_color(err=False)), nl=False)
    else:
        print_document(_FORMATS[report_format](report.verification))
    Reporting().finish(diagnostics)
    verdicts = [v for r in report.operators for v in r.verdicts]
    untested = any(v.status == NOT_TESTED for v in verdicts)
    if not report.ok or (deny_untested and untested):
        raise SystemExit(1)


def _library(
    build: Path | None, loads: tuple[str, ...], target: str
) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return what is loaded, and the folders where Python finds it."""
    if build is None:
        if not loads:
            raise click.UsageError(
                "name the library: --build FOLDER, or --load with the name of a Python module"
            )
        return loads, ()
    compiled = build / BUILD_FOLDER
    packages = sorted((compiled / "python").glob("*/__init__.py"))
    if packages:
        return (packages[0].parent.name, *loads), (packages[0].parents[1],)
    libraries = sorted(compiled.glob("lib*.so"))
    if target == "torch" and libraries:
        return (str(libraries[0]), *loads), ()
    lacks, gives = ("Python package", "adds it") if libraries else ("library", "makes one")
    raise click.ClickException(f"{build} has no {lacks}; 'opgen build --python -o {build}' {gives}")


def _property(text: str) -> str:
    """Return the name of a property for a name or a code."""
    if text in properties.PROPERTIES:
        return text
    if text.upper() in properties.NAMES:
        return properties.NAMES[text.upper()]
    hint = did_you_mean(text, properties.PROPERTIES) or "'opgen docs verify-properties' lists all"
    raise click.BadParameter(f"there is no property '{text}'; {hint}", param_hint="'--property'")


class _Progress:
    """Prints findings as they come, and names operators on one line of stderr as they are done, if people look."""

    def __init__(self, report_format: str) -> None:
        self._prints = report_format == "human"
        self._shown = self._prints and sys.stderr.isatty()
        self._done = 0

    def tell(self, report: OperatorReport) -> None:
        self._done += 1
        findings = render_findings(report, color=wants_color(err=False)) if self._prints else ""
        if findings:
            self.end()
            # click.echo flushes: what is there stays, whatever happens to the others.
            click.echo(findings, nl=False)
        if self._shown:
            line = progress_line(report, color=wants_color())
            width = os.get_terminal_size(2).columns
            show_progress(f"{self._done} {line}"[: width - 1])

    def end(self) -> None:
        if self._shown and self._done:
            show_progress()


def _write(
    report: Report, reports: tuple[Path, ...], programs: Path | None, diagnostics: Diagnostics
) -> None:
    for path in reports:
        write_output(path, _RENDERERS[path.suffix](report.verification).encode(), diagnostics)
    if programs is None:
        return
    for operator in report.operators:
        for verdict in split_findings(operator)[0]:
            name = "".join(c if c.isalnum() or c in "._" else "-" for c in operator.name)
            for shown in verdict.findings[:1]:
                path = programs / f"{name}-{verdict.property}.py"
                write_output(path, shown.program.encode(), diagnostics)
