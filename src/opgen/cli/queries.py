"""Commands that answer a query: `opgen dump`, `schema`, `explain`, `stub` and `select`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from opgen.cli.editors import complete_explanation, complete_operator
from opgen.cli.help import Argument, Choice, Command
from opgen.cli.options import operator_options, path_option, schema_options
from opgen.cli.report import Reporting, report_unwritable
from opgen.data import documentation, read_text
from opgen.diagnostics import Diagnostics, known_codes
from opgen.diagnostics.rendering import visible
from opgen.diagnostics.suggestions import did_you_mean
from opgen.io.files import create_file
from opgen.pipeline import loading, queries
from opgen.pipeline.inputs import Inputs
from opgen.verify.codes import NAMES
from opgen.verify.reports import explain_property

_STAGES = ("model", "registry", "signatures", "registrations", "files", "derivatives")


@click.command(
    cls=Command,
    example="opgen dump leaky.yaml --op ramp --stage registrations",
    pages=("api",),
)
@schema_options
@click.option(
    "--op", metavar="NAME", help="Only operators of this name (with or without overload)."
)
@click.option(
    "--stage",
    type=Choice(_STAGES),
    default="signatures",
    show_default=True,
    help="The last stage to run.",
)
@click.option("--ndjson", is_flag=True, help="Print one object per line instead of an array.")
@click.option("--extra", is_flag=True, help="Also print fields that no later stage uses.")
def dump(
    inputs: Inputs,
    op: str | None,
    stage: str,
    ndjson: bool,
    extra: bool,
    reporting: Reporting,
) -> None:
    """Print what opgen derives from the YAML, as JSON.

    Rows are sorted by name and schema. Each stage includes the results of the stages before it.
    """
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    rows = () if registry is None else queries.dump(registry, inputs, stage, op, extra, diagnostics)
    parts = rows if ndjson else (rows,)
    text = "".join(f"{json.dumps(part, ensure_ascii=False)}\n" for part in parts)
    reporting.finish_with(text, diagnostics)


@click.command(
    cls=Command,
    example="opgen schema native_functions",
    fails="the tags file has an error",
    pages=("ci", "keys"),
)
@click.argument(
    "what",
    type=Choice(queries.SCHEMAS),
    default=queries.SCHEMAS[0],
    cls=Argument,
    rows=(("WHAT", f"{', '.join(queries.SCHEMAS)}.  [default: {queries.SCHEMAS[0]}]"),),
)
@path_option(
    "--tags", help="The file of the tags that entries may have.  [default: the built-in list]"
)
@click.option(
    "--strict-torchgen",
    is_flag=True,
    help="For native_functions and derivatives: allow only what torchgen accepts, as in PyTorch's own file.",
)
def schema(what: str, tags: Path | None, strict_torchgen: bool) -> None:
    """Print the JSON Schema of a file, for an editor or a validator.

    native_functions, derivatives and tags are the YAML files, diagnostics is a line of --format json.
    """
    diagnostics = Diagnostics()
    found = queries.json_schema(what, tags, diagnostics, strict_torchgen=strict_torchgen)
    Reporting().finish(diagnostics)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False))


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
def explain(words: tuple[str, ...], inputs: Inputs, reporting: Reporting) -> None:
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
    reporting.finish_with(visible(text, "\n"), diagnostics)


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


@click.command(
    cls=Command,
    example="opgen stub leaky.yaml ramp -o kernels/ramp.cpp",
    pages=("guides/kernels", "kernels-api"),
)
@operator_options("[OP]...", "An operator; repeatable.  [default: all]", complete_operator)
@path_option("-o", "--output", help="A new file for the skeletons.  [default: stdout]")
def stub(inputs: Inputs, words: tuple[str, ...], output: Path | None, reporting: Reporting) -> None:
    """Print empty kernels to fill in.

    Also prints the empty meta functions of structured operators.
    """
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    text = "" if registry is None else queries.skeletons(registry, inputs, words, diagnostics)
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


@click.command(
    cls=Command,
    example="opgen select leaky.yaml ramp",
    pages=("backend-and-selective",),
)
@operator_options("[OP]...", "An operator to select; repeatable.", complete_operator)
@path_option(
    "--from-registrations",
    "registrations",
    multiple=True,
    help="A file of a backend's registrations: a C++ source, or a list printed by a dispatcher or by opgen dump; repeatable.",
)
@path_option(
    "--from-trace",
    "traces",
    multiple=True,
    help="A file of a program's calls: a graph, a profile, or a name per line; repeatable.",
)
def select(
    inputs: Inputs,
    words: tuple[str, ...],
    registrations: tuple[Path, ...],
    traces: tuple[Path, ...],
    reporting: Reporting,
) -> None:
    """Print the list of operators that an application uses.

    The list is a file for --select: the operators on the command line, those that the files name, and all that these
    need. A name without an overload stands for all overloads, except in registrations and where a graph says
    `default`. With --select, the operators of that file are kept, too.
    """
    if not (words or registrations or traces or inputs.select):
        raise click.UsageError("name operators, or a file that names operators")
    diagnostics = Diagnostics()
    registry = loading.load(inputs, diagnostics)
    text = ""
    if registry is not None:
        named = (words, registrations, traces)
        text = queries.selection_list(registry, inputs, *named, diagnostics)
    reporting.finish_with(text, diagnostics)
