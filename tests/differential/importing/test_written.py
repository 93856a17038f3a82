"""The exact YAML, headers and reports that `opgen import` makes from the sources.

`OPGEN_UPDATE_GOLDEN=1 pytest tests/differential/importing/test_written.py` writes them; review the difference.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from importing_support import CPP, DEFINES, EXPECTED, PYTHON, SOURCES

from opgen.cli.main import main
from opgen.diagnostics import Diagnostics
from opgen.pipeline.importing import Imports, collect_entries

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


@pytest.mark.slow
def test_edited_sources_define_only_what_the_yaml_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what people maintain has fewer lines than before."""
    monkeypatch.chdir(shutil.copytree(SOURCES, tmp_path / "sources"))
    define, output = ("-D", "TORCH_EXTENSION_NAME=_kiln"), ("-o", str(tmp_path / "all.yaml"))
    command = ["import", *CPP, *define, "--kernels-as-they-are", "--edit", *output]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    left = collect_entries(Imports(CPP, (), (), DEFINES), Diagnostics())
    written = (tmp_path / "all.yaml").read_text()
    operators = [item["func"].partition("(")[0] for item in yaml.safe_load(written)[1:]]
    assert left is not None and len(operators) > 190
    assert {entry.name for entry in left.entries}.isdisjoint(operators)
    lines = [line for line in written.splitlines() if line and not line.startswith("#")]
    diff = [line for line in result.stdout.splitlines() if not line.startswith(("---", "+++"))]
    removed = [line for line in diff if line.startswith("-") and len(line) > 1]
    added = [line for line in diff if line.startswith("+") and len(line) > 1]
    assert len(lines) + len(added) < len(removed)
