"""Check that tests/differential/parity/errors_gallery.md shows the current messages of torchgen and opgen.

`python tests/differential/parity/errors_gallery.py > tests/differential/parity/errors_gallery.md` updates it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from errors_gallery import CASES, page

PAGE = Path(__file__).with_name("errors_gallery.md")
TIME = re.compile(r"\d+\.\d\d s")


@pytest.mark.slow
def test_the_page_is_up_to_date(packaged: Path) -> None:
    """Compares messages and counts, but not times. Runs 24 processes, about 15 s."""
    written = PAGE.read_text(encoding="utf-8")
    version = re.search(r"torchgen (\S+) and", written)
    assert version is not None
    now = page(packaged / "native" / "tags.yaml", version[1], runs=1)
    command = "python tests/differential/parity/errors_gallery.py > tests/differential/parity/errors_gallery.md"
    assert TIME.sub("", now) == TIME.sub("", written), f"out of date; run {command}"


def test_every_mistake_has_a_position() -> None:
    """Checks the committed page: each of its twelve sections has an error of opgen with a position."""
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(sections) == len(CASES) == 12
    for section in sections:
        assert re.search(r"error\[E\d{4}\]: .*\n +--> native_functions\.yaml:\d+:\d+", section)
