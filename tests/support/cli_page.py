"""docs/reference/cli.md, made from what `--help` of each command says."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from opgen.cli.help import CommandReference, Row, reference
from opgen.cli.main import main
from opgen.data import documentation
from support.build import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "cli.md"

_HEAD = """\
# Command line

Which command do you need, which options does it have, and what does its exit code mean? `opgen COMMAND --help` prints
the same. Options that several commands share are [at the end](#shared-options).
"""
_EXIT_CODES = """\
## Exit codes

| code | meaning |
|---|---|
| 0 | The command succeeded; it may have reported warnings. |
| 1 | There is an error in a file, or a difference that the command looks for (`check`, `compat`, `format --check`). The section of each command says which. |
| 2 | The command line is wrong: an unknown option, a missing argument. |

Diagnostics go to stderr, and output for programs to stdout.
"""


def page() -> str:
    """Return the text of the page."""
    every = reference(main)
    shared = _shared(every)
    parts = [_HEAD, _table("command", "purpose", _index(every)), _EXIT_CODES]
    with click.Context(main, info_name="opgen", **main.context_settings) as context:
        options = [p.get_help_record(context) for p in main.get_params(context)]
    parts += ["## opgen\n", _table("option", "meaning", [row for row in options if row])]
    parts += [_command(told, shared) for told in every]
    parts.append("## Shared options\n")
    for heading, rows in shared.items():
        parts += [f"### {_subject(heading)}\n", _table("option", "meaning", rows)]
    return "\n".join(parts)


def _index(every: Iterable[CommandReference]) -> list[Row]:
    return [(f"[`opgen {told.name}`](#opgen-{told.name})", told.summary + ".") for told in every]


def _shared(every: Sequence[CommandReference]) -> Mapping[str, Sequence[Row]]:
    """Return the usual shared options by heading: where commands differ, those that most have."""
    found: dict[str, Counter[tuple[Row, ...]]] = {}
    for told in every:
        for heading, rows in told.shared_options.items():
            found.setdefault(heading, Counter())[rows] += 1
    return {heading: counts.most_common(1)[0][0] for heading, counts in found.items()}


def _command(told: CommandReference, shared: Mapping[str, Sequence[Row]]) -> str:
    options = [row for row in told.options if not row[0].endswith("--help")]
    usual = []
    for heading, rows in told.shared_options.items():
        if rows == shared[heading]:
            usual.append(f"[{_subject(heading).lower()}](#{_anchor(heading)})")
        else:
            options += rows
    parts = [f"## opgen {told.name}\n", f"```text\n{told.usage}\n```\n", f"{told.summary}.\n"]
    if told.description:
        parts.append(f"{told.description}\n")
    parts.append(_table("argument or option", "meaning", [*told.arguments, *options]))
    if usual:
        parts.append(f"Shared options: {', '.join(usual)}.\n")
    parts.append(f"```sh\n{told.example}\n```\n")
    parts.append(_table("exit code", "when", told.exit_codes))
    if told.pages:
        parts.append(f"Read more: {', '.join(map(_link, told.pages))}.\n")
    return "\n".join(part for part in parts if part)


def _subject(heading: str) -> str:
    """`Shared options: what is read` → `What is read`"""
    return heading.partition(": ")[2].capitalize() or heading


def _anchor(heading: str) -> str:
    return _subject(heading).lower().replace(" ", "-")


def _link(name: str) -> str:
    (path,) = (path for page, path in documentation().items() if f"/{page}".endswith(f"/{name}"))
    title = next(line[2:] for line in path.read_text("utf-8").splitlines() if line.startswith("# "))
    return f"[{title}]({posixpath.relpath(path.as_posix(), Path(PAGE).parent.as_posix())})"


def _table(first: str, second: str, rows: Iterable[Row]) -> str:
    lines = [f"| {_cell(term)} | {_meaning(meaning)} |" for term, meaning in rows]
    return "\n".join([f"| {first} | {second} |", "|---|---|", *lines, ""]) if lines else ""


def _cell(term: str) -> str:
    term = term.replace("|", "\\|")
    return term if term.startswith("[`") or term.isdigit() else f"`{term}`"


def _meaning(text: str) -> str:
    """Escape what Markdown or a table would read as a mark."""
    for mark in ("|", "*", "<"):
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
