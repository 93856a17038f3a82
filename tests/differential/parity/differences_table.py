"""Read docs/reference/torchgen-differences.md and src/opgen/data/torchgen_cases.md: which differences from torchgen are intended.

They are the only places that list them; tests read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "torchgen-differences.md"
CASES = PAGE.parents[2] / "src" / "opgen" / "data" / "torchgen_cases.md"

_NUMBERED = (
    "Cases that torchgen rejects",
    "Cases in which torchgen crashes",
    "Cases that torchgen accepts without checking",
    "Cases of derivatives.yaml",
)
_CODE = re.compile(r"\b[EW]\d{4}\b")


@dataclass(frozen=True)
class Table:
    """`stricter` has the codes for files that torchgen accepts. `looser` and `otherwise` map the identifier of a
    difference to a pattern: for torchgen's message, or for the field that differs.
    """

    stricter: frozenset[str]
    looser: Mapping[str, re.Pattern[str]]
    otherwise: Mapping[str, re.Pattern[str]]
    numbers: Mapping[str, str]


def read_table() -> Table:
    sections = _read_sections()
    numbers: dict[str, str] = {}
    for number, _case, verdict in (row for head in _NUMBERED for row in sections[head]):
        assert number not in numbers, f"{number} is listed twice"
        numbers[number] = verdict
    return Table(
        stricter=frozenset(c for row in sections["Stricter"] for c in _CODE.findall(row[0])),
        looser={row[0]: _pattern(row[1]) for row in sections["Looser"]},
        otherwise={row[0]: _pattern(row[1]) for row in sections["Derived differently"]},
        numbers=numbers,
    )


def read_rows(head: str) -> list[list[str]]:
    """Return the cells of each row of the table with this head."""
    return _read_sections()[head]


def _read_sections() -> Mapping[str, list[list[str]]]:
    text = PAGE.read_text(encoding="utf-8") + CASES.read_text(encoding="utf-8")
    return {
        head: list(map(_cells, re.findall(r"^\| (.*) \|$", body, re.M)))[1:]
        for head, body in re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    }


def codes_in(text: str) -> frozenset[str]:
    return frozenset(_CODE.findall(text))


def _cells(row: str) -> list[str]:
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r" (?<!\\)\| ", row)]


def _pattern(cell: str) -> re.Pattern[str]:
    return re.compile(cell.strip("`"), re.S)
