"""The work of `opgen lint --kernels`."""

from __future__ import annotations

import click

from opgen.cli.lint import KernelRun
from opgen.cli.report import finish
from opgen.diagnostics import Diagnostics, counted, summarize
from opgen.pipeline.generating import checked_context
from opgen.pipeline.inputs import with_contents
from opgen.pipeline.kernel_sources import find_folders, find_sources, report_kernels
from opgen.targets import TARGETS


def lint_kernels(run: KernelRun) -> None:
    """Report the problems of kernel sources, and errors of the schema files, but no conventions of these."""
    diagnostics = Diagnostics()
    plan = TARGETS[run.inputs.target].plan
    sources = find_sources(run.kernels, plan.kernel_suffixes, None, diagnostics)
    headers = find_folders(run.inputs.include, "name a folder of headers", diagnostics)
    context = checked_context(with_contents(run.inputs), diagnostics)
    if context is not None:
        report_kernels(sources, headers, context, run.inputs, diagnostics)
    finish(diagnostics, run.report_format, run.deny_warnings)
    if run.report_format == "human":
        summary = summarize(diagnostics, hint_fix=False)
        click.echo(f"{counted(len(sources), 'kernel source')}: {summary or 'no problems'}")
