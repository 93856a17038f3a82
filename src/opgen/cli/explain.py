"""`opgen explain`: one operator, or one diagnostic code, in words."""

from __future__ import annotations

import re

import click

from opgen import pipeline
from opgen.cli.completion import complete_explanation
from opgen.cli.options import operator_options
from opgen.cli.report import finish_with
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
    text = "" if registry is None else pipeline.explain(registry, inputs, what, diagnostics)
    finish_with(text, diagnostics, report_format, deny_warnings)


def _explain_code(code: str) -> None:
    page = pipeline.explain_code(code)
    if page is None:
        click.echo(f"opgen has no diagnostic {code}", err=True)
        raise SystemExit(1)
    click.echo(page, nl=False)
