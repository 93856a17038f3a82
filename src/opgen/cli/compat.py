"""`opgen compat`: report what a newer schema file breaks for users of the older one."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from opgen.cli.help import ProjectOption, command
from opgen.cli.options import FILE, path_option, report_options, with_settings
from opgen.cli.report import Reporting, print_document, wants_color
from opgen.compat import Break, Direction, compare_operators, not_allowed, parse_allow_list
from opgen.compat.breaks import BACKWARD, BOTH, as_diagnostics, render_breaks_json
from opgen.compat.breaks import MAX_BYTES as MAX_ALLOW_LIST
from opgen.diagnostics import Diagnostics, counted, until_too_many
from opgen.diagnostics.rendering import render_github, render_human
from opgen.parse.yaml.nodes import decode_source
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load, read_bytes


@command("compat")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@path_option("--allow")
@click.option("--forward", is_flag=True)
@path_option("--old-tags")
@path_option("--tags")
@click.option("--namespace", cls=ProjectOption)
@report_options("human", "json", "github")
def compat(
    old: Path,
    new: Path,
    allow: Path | None,
    forward: bool,
    old_tags: Path | None,
    tags: Path | None,
    report_format: str,
    **_: Any,
) -> None:
    """Report what breaks for users if NEW replaces OLD."""
    settings = with_settings({**click.get_current_context().params, "yaml": (new,)})
    reporting = Reporting(report_format, settings["deny_warnings"])
    diagnostics = Diagnostics()
    wanted = BOTH if forward else BACKWARD
    before = Inputs((old,), tags=old_tags, namespace=settings["namespace"])
    after = Inputs((new,), tags=tags, namespace=settings["namespace"])
    compared = _compare(before, after, allow, wanted, date.today(), diagnostics)
    if compared is not None:
        print_document(_rendered(compared, wanted, report_format))
    reporting.finish(diagnostics, beside=compared is not None)
    if compared is not None and compared.breaks:
        raise SystemExit(1)


def _rendered(compared: _Comparison, wanted: frozenset[Direction], report_format: str) -> str:
    if report_format == "json":
        return render_breaks_json(compared.breaks, wanted)
    found = as_diagnostics(compared.breaks, wanted)
    if report_format == "github":
        return render_github(found)
    text = render_human(found, color=wants_color(err=False))
    broken = len({found.operator for found in compared.breaks})
    before = f"{counted(compared.old_operators, 'operator')} before, {compared.new_operators} now"
    breaks = f"{counted(len(compared.breaks), 'break')} of {counted(broken, 'operator')}"
    more = f", {compared.allowed} more allowed" if compared.allowed else ""
    return "\n".join([*filter(None, [text]), f"{before}: {breaks}{more}\n"])


class _Comparison(Struct, frozen=True):
    """The breaks between two files, without those that are allowed, which are only counted."""

    old_operators: int
    new_operators: int
    breaks: tuple[Break, ...]
    allowed: int


@until_too_many(lambda: None)
def _compare(
    old: Inputs,
    new: Inputs,
    allow: Path | None,
    wanted: frozenset[Direction],
    today: date,
    diagnostics: Diagnostics,
) -> _Comparison | None:
    """Return the breaks in the `wanted` directions; None if there are errors, which `diagnostics` then holds."""
    before, after = load(old, diagnostics), load(new, diagnostics)
    text = None if allow is None else read_bytes(allow, diagnostics, most=MAX_ALLOW_LIST)
    source = None if text is None else decode_source(str(allow), text, diagnostics)
    allowed = () if source is None else parse_allow_list(source, diagnostics)
    if before is None or after is None or diagnostics.has_errors:
        return None
    found = compare_operators(before.functions, after.functions)
    found = tuple(one for one in found if one.directions & wanted)
    kept = not_allowed(found, allowed, today, diagnostics)
    counts = len(before.functions), len(after.functions)
    return _Comparison(*counts, kept, len(found) - len(kept))
