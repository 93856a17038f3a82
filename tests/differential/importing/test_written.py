"""The exact YAML, headers and reports that `opgen import` makes from the sources.

`OPGEN_UPDATE_GOLDEN=1 pytest tests/differential/importing/test_written.py` writes them; review the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from importing_support import CPP, EXPECTED, PYTHON, SOURCES

from opgen.cli.main import main

UPDATE = os.environ.get("OPGEN_UPDATE_GOLDEN") == "1"
CASES = {
    "plain": (*CPP, *PYTHON),
    "as_they_are": (*CPP, "--kernels-as-they-are"),
}


@pytest.mark.parametrize("case", CASES)
def test_texts(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SOURCES)
    output = tmp_path / "out"
    arguments = ["import", *CASES[case], "-D", "TORCH_EXTENSION_NAME=_kiln", "-o", f"{output}/"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    made = {path.name: path.read_text() for path in output.iterdir()}
    made["report.txt"] = result.stderr
    expected = EXPECTED / case
    if UPDATE:
        expected.mkdir(parents=True, exist_ok=True)
        for path in expected.iterdir():
            path.unlink()
        for name, text in made.items():
            (expected / name).write_text(text)
    assert made == {path.name: path.read_text() for path in expected.iterdir()}
