"""The table of docs/torch-releases.md: what ran writes its own cells."""

from __future__ import annotations

import re
from collections.abc import Mapping

from support.build import REPOSITORY

PAGE = REPOSITORY / "docs" / "torch-releases.md"
COLUMNS = (
    *("libraries", "backends"),
    *("build", "values", "opcheck", "inductor", "export", "AOTInductor"),
)
NOT_RUN = "–"


def write_cells(version: str, cells: Mapping[str, str]) -> None:
    """Put `cells`, by their columns, into the row of that release; the others stay."""
    text = PAGE.read_text()
    line, had = _row(text, version)
    new = " | ".join((version, *({**had, **cells}[column] for column in COLUMNS)))
    PAGE.write_text(text.replace(line, f"| {new} |"))


def add_compiler(version: str, column: str, compiler: str) -> None:
    """Name a compiler in a cell of that release, beside those that are there."""
    _, had = _row(PAGE.read_text(), version)
    named = {compiler, *had[column].split(", ")} - {NOT_RUN}
    write_cells(version, {column: ", ".join(sorted(named))})


def _row(text: str, version: str) -> tuple[str, dict[str, str]]:
    row = re.search(rf"^\| {re.escape(version)} \|(.*)\|$", text, re.MULTILINE)
    assert row, f"{PAGE} has no row for {version}"
    return row[0], dict(zip(COLUMNS, (cell.strip() for cell in row[1].split("|"))))
