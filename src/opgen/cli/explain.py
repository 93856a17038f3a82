"""`opgen explain`: one operator, or one diagnostic code, in words."""

from __future__ import annotations

import re

import click

from opgen import pipeline
from opgen.cli.completion import complete_explanation
from opgen.cli.options import operator_options
from opgen.cli.report import finish
from opgen.diagnostics import Diagnostics
from opgen.pipeline import Inputs

_CODE = re.compile(r"[EW]\d{4}")


@click.command()
@click.argument("what", metavar="OP|CODE", shell_complete=complete_explanation)
@operator_options
def explain(what: str, inputs: Inputs, report_format: str, deny_warnings: bool) -> None:
    """Explain an operator of the YAML, or a diagnostic code.

    An operator: its group, kind, computed dispatch table with the reason for each cell, every C++
    signature and its files. A code: what it means, a failing example and the mended one.
    """
    if _CODE.fullmatch(what):
        _explain_code(what)
        return
    diagnostics = Diagnostics()
    registry = pipeline.load(inputs, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    assert registry is not None
    text = pipeline.explain(registry, inputs, what, diagnostics)
    finish(diagnostics, report_format, deny_warnings)
    click.echo(text, nl=False)


def _explain_code(code: str) -> None:
    page = pipeline.explain_code(code)
    if page is None:
        click.echo(f"opgen has no diagnostic {code}", err=True)
        raise SystemExit(1)
    click.echo(page, nl=False)
