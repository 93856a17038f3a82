"""The table of gradients: what came of each cell, as text for comparison, and as a table of docs/guides/gradients.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from support.build import REPOSITORY

PAGE = REPOSITORY / "docs" / "guides" / "gradients.md"
FOLDER = REPOSITORY / "tests" / "golden" / "gradient_table"
TARGETS = ("runtime", "torch", "torch-stable")
ORDERS = ("1", "2", "3", "f", "fb", "bf")
# The modes of the table; a target may lack some of them, and a mode some orders.
MODES = 13
# Here an error is right for each operator that saves a value.
CHANGED = "changed after the call"
BEGIN, END = "<!-- table of gradients -->\n", "<!-- end of the table -->\n"

# A form, a mode, an order, "right", "refused" or "wrong", and the text of the error.
Cell = tuple[str, str, str, str, str]


def as_text(cells: Sequence[Cell]) -> str:
    """Return a paragraph for each form: the modes, and in each what came of the orders."""
    return "\n".join(
        f"{form}\n{''.join(_modes(list(some)))}" for form, some in groupby(cells, lambda c: c[0])
    )


def _modes(cells: Sequence[Cell]) -> Iterator[str]:
    modes: dict[str, list[str]] = {}
    for mode, some in groupby(cells, lambda c: c[1]):
        modes.setdefault("; ".join(_outcomes(list(some))), []).append(mode)
    for outcomes, names in modes.items():
        yield f"  {', '.join(names)}: {outcomes}\n"


def _outcomes(cells: Sequence[Cell]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for _, _, order, outcome, text in cells:
        found.setdefault(
            outcome if outcome == "right" else f"{outcome}: {_short(text)}", []
        ).append(order)
    for outcome, orders in found.items():
        yield f"{' '.join(orders)} {outcome}"


def _short(text: str) -> str:
    first = " ".join(text.split())
    # Versions of saved tensors, and what depends on them, are left out.
    first = re.split(r": \[torch|\. (?!None)|; ", first)[0]
    return first if len(first) <= 150 else first[:147] + "..."


def rows_of(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield form, mode, order and outcome of each cell of a text."""
    form = ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            form = line
        elif line:
            modes, _, outcomes = line.strip().partition(": ")
            for mode in modes.split(", "):
                for part in outcomes.split("; "):
                    words = part.split(": ")[0].split()
                    for order in words[:-1]:
                        yield form, mode, order, words[-1]


def page_table() -> str:
    """Return the table of the page, made from the texts of all targets."""
    all_rows = {target: list(rows_of((FOLDER / f"{target}.txt").read_text())) for target in TARGETS}
    forms = list(dict.fromkeys(row[0] for target in TARGETS[1:] for row in all_rows[target]))
    lines = [f"| form | {' | '.join(TARGETS)} |", "|---|---|---|---|"]
    for form in forms:
        cells = (_cell([row for row in all_rows[t] if row[0] == form]) for t in TARGETS)
        lines.append(f"| {form} | {' | '.join(cells)} |")
    total = len(forms) * MODES * len(ORDERS)
    lines += ["", "| cells | right | an error | not reached |", "|---|---|---|---|"]
    for target, rows in all_rows.items():
        count = Counter(row[3] for row in rows)
        lines.append(f"| {target} | {count['right']} | {count['refused']} | {total - len(rows)} |")
    return "\n".join(lines) + "\n"


def _cell(rows: Sequence[tuple[str, str, str, str]]) -> str:
    """Return the orders that are right in each mode that has them, and the modes in which one of them is an error."""
    if not rows:
        return "lint refuses it"
    eager = [order for _, mode, order, outcome in rows if mode == "eager" and outcome == "right"]
    if not eager:
        return "an error"
    text = "all" if len(eager) == len(ORDERS) else ", ".join(eager)
    others = dict.fromkeys(
        mode
        for _, mode, order, outcome in rows
        if order in eager and outcome != "right" and mode != CHANGED
    )
    return f"{text}; not with {', '.join(others)}" if others else text


def with_table(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{page_table()}{END}{after}"
