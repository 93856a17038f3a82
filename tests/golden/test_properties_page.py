"""docs/reference/verify-properties.md has the texts of `opgen explain V0101`: both are made from the same records.

`OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_properties_page.py` writes the page.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from opgen.verify import codes
from opgen.verify.properties import PROPERTIES
from opgen.verify.report.pages import explain_all_properties, explain_property

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "verify-properties.md"


def test_the_page_is_up_to_date() -> None:
    text = explain_all_properties()
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        PAGE.write_text(text, encoding="utf-8")
    command = "OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_properties_page.py"
    written = PAGE.read_text(encoding="utf-8")
    assert written == text, f"docs/reference/verify-properties.md is out of date; run {command}"


def test_every_property_is_explained_and_checked() -> None:
    """Protects a user who looks up a code of a finding, and one who reads of a property that nothing checks."""
    text = explain_all_properties()
    assert re.findall(r"^### (V\d+): (\S+)$", text, re.MULTILINE) == [
        (code.code, name) for name, code in codes.PROPERTIES.items()
    ]
    assert [p.name for p in PROPERTIES] == list(codes.PROPERTIES)
    for name, code in codes.PROPERTIES.items():
        page = explain_property(code.code)
        assert page is not None and page == explain_property(name)
        assert code.explanation[:40] in page.replace("\n", " ")
    assert explain_property("V0999") is None


def test_every_code_belongs_to_a_family() -> None:
    prefixes = [prefix for prefix, _ in codes.FAMILIES]
    assert all(any(code.startswith(p) for p in prefixes) for code in codes.CODES)


@pytest.mark.parametrize(
    "file",
    (
        *("README.md", "docs/guides/verify.md", "src/opgen/cli/verify.py"),
        "templates/new/test_promises.py.j2",
    ),
)
def test_the_properties_are_counted(file: str) -> None:
    text = (PAGE.parents[2] / file).read_text(encoding="utf-8")
    assert re.findall(r"\bchecks\s+\[?(\w+)\s+properties", text) == [str(len(codes.PROPERTIES))]
