"""docs/errors-gallery.md shows what torchgen and opgen say now.

`python tests/parity/errors_gallery.py > docs/errors-gallery.md` writes it anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from errors_gallery import CASES, page

PAGE = Path(__file__).parents[2] / "docs" / "errors-gallery.md"
TIME = re.compile(r"\d+\.\d\d s")


@pytest.mark.slow
def test_the_page_shows_what_both_say(packaged: Path) -> None:
    """Texts and counts, word for word; not the times. 24 processes, some 15 s."""
    written = PAGE.read_text(encoding="utf-8")
    version = re.search(r"torchgen (\S+) answers", written)
    assert version is not None
    now = page(packaged / "native" / "tags.yaml", version[1], runs=1)
    command = "python tests/parity/errors_gallery.py > docs/errors-gallery.md"
    assert TIME.sub("", now) == TIME.sub("", written), f"out of date; run {command}"


def test_every_mistake_is_answered_with_a_place() -> None:
    """Of the page as it is committed: twelve sections, each with a located error of opgen."""
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(sections) == len(CASES) == 12
    for section in sections:
        assert re.search(r"error\[E\d{4}\]: .*\n +--> native_functions\.yaml:\d+:\d+", section)
