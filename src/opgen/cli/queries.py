"""Commands that answer a query: `opgen dump`, `schema`, `explain`, `stub` and `select`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from opgen.cli.editors import complete_explanation, complete_operator
from opgen.cli.help import Choice, command
from opgen.cli.options import operator_options, path_option, schema_options
from opgen.cli.report import Reporting, report_unwritable
from opgen.data import documentation, read_text
from opgen.diagnostics import Diagnostics, known_codes
from opgen.diagnostics.properties import NAMES
from opgen.diagnostics.rendering import visible
from opgen.diagnostics.suggestions import did_you_mean
from opgen.io.files import create_file
from opgen.pipeline import loading, queries
from opgen.pipeline.inputs import Inputs

_STAGES = ("model", "registry", "signatures", "registrations", "files", "derivatives")


def _answer(query: Callable[..., Any], inputs: Inputs, *asked: object) -> tuple[Any, Diagnostics]:
    """Return the answer to a query about the operators, empty if there are errors, and what it reported."""
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    answer = "" if registry is None else query(registry, inputs, *asked, diagnostics)
    return answer, diagnostics


@command("dump")
@schema_options
@click.option("--op")
@click.option("--stage", type=Choice(_STAGES), default="signatures")
@click.option("--ndjson", is_flag=True)
@click.option("--extra", is_flag=True)
def dump(
    inputs: Inputs,
    op: str | None,
    stage: str,
    ndjson: bool,
    extra: bool,
    reporting: Reporting,
) -> None:
    """Print what opgen derives from the YAML, as JSON."""
    rows, diagnostics = _answer(queries.dump, inputs, stage, op, extra)
    parts = rows if ndjson else (rows,)
    text = "".join(f"{json.dumps(part, ensure_ascii=False)}\n" for part in parts)
    reporting.finish_with(text, diagnostics)


@command("schema")
@click.argument("what", type=Choice(queries.SCHEMAS), default=queries.SCHEMAS[0])
@path_option("--tags")
@click.option("--strict-torchgen", is_flag=True)
def schema(what: str, tags: Path | None, strict_torchgen: bool) -> None:
    """Print the JSON Schema of a file."""
    diagnostics = Diagnostics()
    found = queries.json_schema(what, tags, diagnostics, strict_torchgen=strict_torchgen)
    Reporting().finish(diagnostics)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False))


# A diagnostic or a property, in any case, with or without its letter and its zeros; or a case of torchgen, as DA1, in
# capitals, because operators have names as i0.
_CODE = re.compile(r"(?i:[EWV]?\d{3,4})|[A-DF-SV][A-Z]?\d{1,3}")


@command("explain")
@operator_options(complete_explanation, without_yaml=_CODE.pattern)
def explain(words: tuple[str, ...], inputs: Inputs, reporting: Reporting) -> None:
    """Explain an operator or a code."""
    if len(words) != 1:
        raise click.UsageError(
            "name one operator or code" if words else "Missing argument 'OP|CODE'."
        )
    (what,) = words
    if _CODE.fullmatch(what):
        _explain_code(what)
        return
    text, diagnostics = _answer(queries.explain, inputs, what)
    reporting.finish_with(visible(text, "\n"), diagnostics)


def _explain_code(given: str) -> None:
    """Print the pages of all that a code may mean. A case of torchgen has the code that opgen's tables give it."""
    number = re.fullmatch(r"([EWV]?)(\d{3,4})", given.upper())
    letters = () if number is None else number[1] or "EWV"
    codes = [f"{letter}{number[2]:0>4}" for letter in letters] if number is not None else []
    pages = map(queries.explain_code, codes)
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


@command("stub")
@operator_options(complete_operator)
@path_option("-o", "--output")
def stub(inputs: Inputs, words: tuple[str, ...], output: Path | None, reporting: Reporting) -> None:
    """Print empty kernels to fill in."""
    text, diagnostics = _answer(queries.skeletons, inputs, words)
    if output is None:
        reporting.finish_with(text, diagnostics)
        return
    if not reporting.fails(diagnostics):
        try:
            create_file(output, text.encode())
        except FileExistsError:
            diagnostics.error("E0901", f"{output} exists; name a new file", None)
        except OSError as error:
            report_unwritable(error.filename or output, error.strerror, diagnostics)
    reporting.finish(diagnostics)
    reporting.say(f"{output}: written")


@command("select")
@operator_options(complete_operator)
@path_option("--from-registrations", "registrations", multiple=True)
@path_option("--from-trace", "traces", multiple=True)
def select(
    inputs: Inputs,
    words: tuple[str, ...],
    registrations: tuple[Path, ...],
    traces: tuple[Path, ...],
    reporting: Reporting,
) -> None:
    """Print the list of operators that an application uses."""
    if not (words or registrations or traces or inputs.select):
        raise click.UsageError("name operators, or a file that names operators")
    text, diagnostics = _answer(queries.selection_list, inputs, words, registrations, traces)
    reporting.finish_with(text, diagnostics)
