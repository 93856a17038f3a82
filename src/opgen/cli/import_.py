"""`opgen import`: write YAML for operators that C++, Python or a loaded library registers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from opgen.cli.help import command
from opgen.cli.lint import print_diffs, write_back
from opgen.cli.options import report_options
from opgen.cli.report import Reporting, report_unwritable, wants_color, write_output
from opgen.diagnostics import Diagnostic, Diagnostics, counted
from opgen.diagnostics.rendering import render_human
from opgen.io.files import create_file
from opgen.pipeline import importing
from opgen.pipeline.importing import Imported, Imports


def _defines(_: click.Context, __: click.Parameter, given: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise click.BadParameter(f"'{one}' is not NAME=VALUE", param_hint="-D")
        found[name] = value
    return found


@command("import")
@click.argument("sources", nargs=-1)
@click.option("--from-library", "libraries", multiple=True)
@click.option("--namespace", "namespaces", multiple=True)
@click.option("-D", "defines", multiple=True, callback=_defines)
@click.option("--kernels-as-they-are", is_flag=True)
@click.option("--edit", "edits", is_flag=True)
@click.option("-o", "--output")
@click.option("--force", is_flag=True)
@report_options("human", "json", "github", "sarif")
def import_command(
    output: str | None, force: bool, report_format: str, deny_warnings: bool, **given: Any
) -> None:
    """Write YAML for operators that sources or a library register."""
    imports = Imports(output=(output or "").replace(os.sep, "/"), **given)
    if bool(imports.sources) == bool(imports.libraries):
        raise click.UsageError("name sources, or a library with --from-library")
    if imports.kernels_as_they_are and (imports.libraries or not output):
        raise click.UsageError("--kernels-as-they-are is for sources, and needs -o")
    if imports.edits and not imports.kernels_as_they_are:
        raise click.UsageError("--edit needs --kernels-as-they-are")
    if imports.kernels_as_they_are and imports.output.endswith((".h", ".inc")):
        raise click.UsageError("-o names the YAML: headers and snippets are written beside it")
    diagnostics = Diagnostics()
    reporting = Reporting(report_format, deny_warnings)
    found = importing.import_operators(imports, diagnostics)
    if found is not None and output is not None and not force:
        for path in filter(os.path.lexists, found.texts):
            diagnostics.error("E1162", f"{path} exists", None, hint="--force overwrites it")
    if output is None:
        text = "" if found is None else found.texts[""]
        reporting.finish_with(text, diagnostics, human=_by_cause)
    else:
        if found is not None and not reporting.fails(diagnostics):
            _write(found.texts, force, diagnostics)
            old, new = ({p: both[n] for p, both in found.edited.items()} for n in (0, 1))
            if not diagnostics.has_errors:
                write_back(old, new, diagnostics)
            if not diagnostics.has_errors:
                print_diffs(old, new, reporting)
        reporting.finish(diagnostics, human=_by_cause)
    assert found is not None
    if reporting.is_human:
        if len(found.found) > 1:
            click.echo("\n".join(_table(found)), err=True)
        schemas = counted(found.schemas, "schema")
        rows = counted(found.rows, "row of a kernel", "rows of kernels")
        where = f" in {counted(found.files, 'file')}" if imports.sources else ""
        click.echo(f"{schemas}, {rows}{where}", err=True)


def _write(texts: Mapping[str, str], force: bool, diagnostics: Diagnostics) -> None:
    """Write all files; report the first that cannot be written, and stop there."""
    for path, text in texts.items():
        content = text.encode("utf-8", "replace")
        if force:
            if not write_output(Path(path), content, diagnostics):
                return
            continue
        try:
            create_file(Path(path), content)
        except OSError as error:
            report_unwritable(error.filename or path, error.strerror, diagnostics)
            return


# So many diagnostics of one cause are shown in full.
_SHOWN = 3
_NAMES = re.compile(r"'[^']*'|\d+")
# What removes all diagnostics of a code at once, or says that nothing is left to do for them.
_EDITS = {
    "W1161": "with --edit, they stay registered as they are, beside what the YAML registers",
    "W1164": "nothing is to be done: they work as before",
    "W1171": "--kernels-as-they-are --edit includes what makes all of them callable, in each file",
    "W1173": "pass the folder of the headers, too",
    "W1175": "pass the folder of the files that are made from them",
}


def _by_cause(diagnostics: Diagnostics) -> str:
    """Return the report for a person: of diagnostics that differ in names alone, the first ones, and where the others are."""
    causes: dict[tuple[str, str], list[Diagnostic]] = {}
    for item in diagnostics.sorted():
        causes.setdefault((item.code, _NAMES.sub("", item.message)), []).append(item)
    texts = []
    for (code, _), items in causes.items():
        text = render_human(items[:_SHOWN], color=wants_color())
        rest = [item.span.source.path for item in items[_SHOWN:] if item.span is not None]
        if len(items) > _SHOWN:
            where = ", ".join(f"{path} ({count})" for path, count in Counter(rest).items())
            text += f"... and {len(items) - _SHOWN} more {code} like these: {where or 'see --format json'}\n"
            text += f"  = help for all: {_EDITS[code]}\n" if code in _EDITS else ""
        texts.append(text)
    if any(len(items) > _SHOWN for items in causes.values()):
        texts.append("--format json has all of them\n")
    return "\n".join(texts)


def _table(found: Imported) -> Iterator[str]:
    """Yield a line for each source, with what was written, and how many kernels were left to you."""
    heads = ("file", "schemas", "rows", "left")
    rows = [heads, *((path, *map(str, counts)) for path, counts in found.found.items())]
    widths = [max(len(row[n]) for row in rows) for n in range(len(heads))]
    for path, *counts in rows:
        numbers = "  ".join(f"{count:>{width}}" for count, width in zip(counts, widths[1:]))
        yield f"{path:<{widths[0]}}  {numbers}"
