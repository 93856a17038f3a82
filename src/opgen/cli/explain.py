"""`opgen explain`: explain an operator or a diagnostic code."""

from __future__ import annotations

import re

import click

from opgen.cli.completion import complete_explanation
from opgen.cli.help import Command
from opgen.cli.options import operator_options
from opgen.cli.report import finish_with
from opgen.data import read_text
from opgen.diagnostics import Diagnostics, known_codes
from opgen.diagnostics.human import visible
from opgen.diagnostics.suggestions import did_you_mean
from opgen.io.resources import documentation
from opgen.pipeline import loading, queries
from opgen.pipeline.inputs import Inputs
from opgen.verify.codes import NAMES
from opgen.verify.reports import explain_property

# A diagnostic or a property, in any case, with or without its letter and its zeros; or a case of torchgen, as DA1, in
# capitals, because operators have names as i0.
_CODE = re.compile(r"(?i:[EWV]?\d{3,4})|[A-DF-SV][A-Z]?\d{1,3}")


@click.command(
    cls=Command, example="opgen explain leaky.yaml ramp", pages=("diagnostics", "concepts/dispatch")
)
@operator_options(
    "OP|CODE",
    "An operator of the YAML, or a code, as E0402 (or 402), V0110, or DA1 for a case of torchgen.",
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
    finish_with(visible(text, "\n"), diagnostics, report_format, deny_warnings)


def _explain_code(given: str) -> None:
    """Print the pages of all that a code may mean. A case of torchgen has the code that opgen's tables give it."""
    number = re.fullmatch(r"([EWV]?)(\d{3,4})", given.upper())
    letters = () if number is None else number[1] or "EWV"
    codes = [f"{letter}{number[2]:0>4}" for letter in letters] if number is not None else []
    pages = [explain_property(c) if c[0] == "V" else queries.explain_code(c) for c in codes]
    # Tables of other things have codes of opgen in their first column.
    case = None if given.upper() in codes else _torchgen_case(given.upper())
    found = [page for page in (case, *pages) if page is not None]
    if not found:
        hint = did_you_mean(codes[0] if codes else given, (*known_codes(), *NAMES))
        message = f"there is no code {given}"
        raise click.ClickException(f"{message}; {hint or 'opgen docs diagnostics lists all'}")
    click.echo("\n".join(found), nl=False)


def _torchgen_case(code: str) -> str | None:
    """Return what the tables of torchgen's cases say of one; None if they list no such case."""
    texts = [read_text("torchgen_cases.md")]
    texts += [path.read_text("utf-8") for path in documentation().values()]
    for row in (row for text in texts for row in text.splitlines()):
        name, *cells = (cell.strip() for cell in row.strip("|").split(" | "))
        if name == code and row.startswith("|") and len(cells) > 1:
            case, answer = " | ".join(cells[:-1]), cells[-1]
            return (
                f"{code} is a case of torchgen: {case}\nopgen: {answer}\n\n"
                "'opgen docs torchgen-differences' explains the differences.\n"
            )
    return None
