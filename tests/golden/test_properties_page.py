"""docs/reference/verify-properties.md describes the properties that `opgen verify` checks: `opgen explain V0101` prints it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen.diagnostics import properties
from opgen.pipeline.queries import explain_code
from opgen.verify.properties import PROPERTIES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "verify-properties.md"


def test_every_property_is_explained_and_checked() -> None:
    """Protects a user who looks up a code of a finding, and one who reads of a property that nothing checks."""
    assert [(p.code, p.name) for p in PROPERTIES] == list(properties.NAMES.items())
    for code in properties.NAMES:
        page = explain_code(code)
        assert page is not None
        assert "\nReported:\n" in page and "\nFixed:\n" in page
    assert explain_code("V0999") is None


def test_every_code_belongs_to_a_family() -> None:
    prefixes = [prefix for prefix, _ in properties.FAMILIES]
    assert all(any(code.startswith(p) for p in prefixes) for code in properties.NAMES)
    assert (
        len(properties.FAMILIES) == 10
        and ("V018", "Results, threads and memory") in properties.FAMILIES
    )


@pytest.mark.parametrize(
    "file",
    (
        *("README.md", "docs/guides/verify.md", "docs/reference/cli.md"),
        *("templates/new/test_promises.py.j2", "docs/reference/verify-properties.md"),
    ),
)
def test_the_properties_are_counted(file: str) -> None:
    text = (PAGE.parents[2] / file).read_text(encoding="utf-8")
    assert re.findall(r"\bchecks\s+\[?(\w+)\s+properties", text) == [
        str(len(properties.PROPERTIES))
    ]
