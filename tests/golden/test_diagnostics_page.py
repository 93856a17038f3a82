"""docs/diagnostics.md says what `opgen explain CODE` says: both are made from the same records.

`OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_diagnostics_page.py` writes it anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from opgen import pipeline

PAGE = Path(__file__).parents[2] / "docs" / "diagnostics.md"


def test_the_page_is_up_to_date() -> None:
    text = pipeline.explain_all_codes()
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        PAGE.write_text(text, encoding="utf-8")
    command = "OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_diagnostics_page.py"
    written = PAGE.read_text(encoding="utf-8")
    assert written == text, f"docs/diagnostics.md is out of date; run {command}"


def test_every_code_has_its_section_under_a_subject() -> None:
    text = pipeline.explain_all_codes()
    assert sorted(re.findall(r"^### (\w+)$", text, re.MULTILINE)) == sorted(pipeline.CODES)
    subjects = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert not [s for s in subjects if re.fullmatch(r"[EW]\d+", s)], "a hundred without a subject"
    anchors = re.findall(r"^\* \[.*\]\(#(.*)\)$", text, re.MULTILINE)
    assert len(anchors) == len(set(anchors)) == len(subjects)
