"""docs/reference/diagnostics.md has the texts of `opgen explain CODE`: both are made from the same records.

`OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_diagnostics_page.py` writes the page.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from opgen.pipeline import codes, queries

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "diagnostics.md"


def test_the_page_is_up_to_date() -> None:
    text = queries.explain_all_codes()
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        PAGE.write_text(text, encoding="utf-8")
    command = "OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_diagnostics_page.py"
    written = PAGE.read_text(encoding="utf-8")
    assert written == text, f"docs/reference/diagnostics.md is out of date; run {command}"


def test_every_code_has_its_section_under_a_subject() -> None:
    text = queries.explain_all_codes()
    assert sorted(re.findall(r"^### (\w+)$", text, re.MULTILINE)) == sorted(codes.CODES)
    subjects = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert not [
        s for s in subjects if re.fullmatch(r"[EW]\d+", s)
    ], "a group of a hundred codes has no title"
    anchors = re.findall(r"^\* \[.*\]\(#(.*)\)$", text, re.MULTILINE)
    assert len(anchors) == len(set(anchors)) == len(subjects)
