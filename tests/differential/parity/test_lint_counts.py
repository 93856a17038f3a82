"""The lints on PyTorch's own file: tests/RESULTS.md states how often each is reported, and why."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.pipeline import checking
from support.inputs import aten_inputs

_PAGE = Path(__file__).parents[2] / "RESULTS.md"


def test_the_page_states_the_counts(packaged: Path) -> None:
    """Protects the table, and against a lint that suddenly fires on what PyTorch does everywhere."""
    diagnostics = Diagnostics()
    file = packaged / "native" / "native_functions.yaml"
    checking.inspect(aten_inputs((file,)), diagnostics)
    assert not diagnostics.has_errors
    found = Counter(item.code for item in diagnostics)
    rows = re.findall(r"^\| (W\d+) \|[^|]*\| (\d+) \|", _PAGE.read_text(), re.MULTILINE)
    assert rows, "no table"
    assert {code: int(count) for code, count in rows if count != "0"} == dict(found)
