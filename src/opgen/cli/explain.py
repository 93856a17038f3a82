"""`opgen explain`: explain an operator or a diagnostic code."""

from __future__ import annotations

import re

import click

from opgen.cli.completion import complete_explanation
from opgen.cli.help import Command
from opgen.cli.options import operator_options
from opgen.cli.report import finish_with
from opgen.diagnostics import Diagnostics
from opgen.pipeline import loading, queries
from opgen.pipeline.inputs import Inputs
from opgen.verify.report.pages import explain_property

_CODE = re.compile(r"[EWV]\d{4}")


@click.command(
    cls=Command, example="opgen explain leaky.yaml ramp", pages=("diagnostics", "dispatch-keywords")
)
@operator_options(
    "OP|CODE",
    "An operator of the YAML, or a code, as E0402 or V0110.",
    complete_explanation,
    without_yaml=_CODE.pattern,
)
def explain(
    words: tuple[str, ...], inputs: Inputs, report_format: str, deny_warnings: bool
) -> None:
    """Explain an operator or a diagnostic code.

    For an operator: its group and kind, its computed dispatch table with the reason for each cell, every C++
    signature and its files. For a code: its meaning, a failing example and the fixed one. Codes with V are properties that 'opgen verify' checks.
    """
    if len(words) != 1:
        raise click.UsageError(
            "name one operator or code" if words else "Missing argument 'OP|CODE'."
        )
    (what,) = words
    if _CODE.fullmatch(what):
        _explain_code(what)
        return
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    text = "" if registry is None else queries.explain(registry, inputs, what, diagnostics)
    finish_with(text, diagnostics, report_format, deny_warnings)


def _explain_code(code: str) -> None:
    page = explain_property(code) if code.startswith("V") else queries.explain_code(code)
    if page is None:
        click.echo(f"there is no diagnostic {code}", err=True)
        raise SystemExit(1)
    click.echo(page, nl=False)
