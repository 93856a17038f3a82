"""The table of docs/guides/gradients.md is made from what the slow test of the table saw.

`OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_gradients_page.py` writes it.
"""

from __future__ import annotations

import os

from support.gradient_table import FOLDER, PAGE, TARGETS, rows_of, with_table


def test_the_page_is_up_to_date() -> None:
    """Protects the table of the page from what gradients no longer do."""
    expected = with_table(PAGE.read_text())
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        PAGE.write_text(expected)
    assert (
        PAGE.read_text() == expected
    ), "OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_gradients_page.py"


def test_no_cell_is_wrong() -> None:
    """Protects everybody from a gradient that is wrong without a word: a cell is right, or an error with the name of
    the operator.
    """
    for target in TARGETS:
        rows = list(rows_of((FOLDER / f"{target}.txt").read_text()))
        assert len(rows) > 300 and {row[3] for row in rows} == {"right", "refused"}, target
