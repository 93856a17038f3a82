"""The YAML in the pages for authors is what opgen takes without a word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen import pipeline
from opgen.diagnostics import Diagnostics, render_human
from support.inputs import aten_inputs

_DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("dispatch-keywords.md", "runtime"),
        ("keys.md", "torch"),
        ("lints.md", "runtime"),
        ("structured.md", "runtime"),
    ],
)
def test_every_example_is_clean(name: str, target: str, tmp_path: Path) -> None:
    examples = re.findall(
        r"^```yaml\n(.*?)^```", (_DOCS / name).read_text(), re.DOTALL | re.MULTILINE
    )
    assert examples
    for number, text in enumerate(examples):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text)
        diagnostics = Diagnostics()
        pipeline.inspect(aten_inputs((file,), target=target), diagnostics)
        assert render_human(diagnostics) == "", text
