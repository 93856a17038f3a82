"""The table of tests/RESULTS.md, whose cells are written by the tests that ran."""

from __future__ import annotations

import re
from collections.abc import Mapping

from support.build import REPOSITORY

PAGE = REPOSITORY / "tests" / "RESULTS.md"
COLUMNS = (
    *("libraries", "backends"),
    *("build", "values", "opcheck", "inductor", "export", "AOTInductor"),
)
NOT_RUN = "–"


def write_cells(version: str, cells: Mapping[str, str]) -> None:
    """Put `cells`, by column, into the row of that release; leave the other cells."""
    text = PAGE.read_text()
    line, had = _row(text, version)
    new = " | ".join((version, *({**had, **cells}[column] for column in COLUMNS)))
    PAGE.write_text(text.replace(line, f"| {new} |"))


def add_compiler(version: str, column: str, compiler: str) -> None:
    """Add a compiler to the list in a cell of that release."""
    _, had = _row(PAGE.read_text(), version)
    named = {compiler, *had[column].split(", ")} - {NOT_RUN}
    write_cells(version, {column: ", ".join(sorted(named))})


def _row(text: str, version: str) -> tuple[str, dict[str, str]]:
    row = re.search(rf"^\| {re.escape(version)} \|(.*)\|$", text, re.MULTILINE)
    assert row, f"{PAGE} has no row for {version}"
    return row[0], dict(zip(COLUMNS, (cell.strip() for cell in row[1].split("|"))))
