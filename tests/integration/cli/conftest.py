"""Fixtures: the command line in a new folder, with a valid and an invalid schema file."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import BAD, GOOD, Opgen, in_aten
from click.testing import CliRunner, Result

from opgen.cli.main import main


@pytest.fixture
def opgen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opgen:
    """Run a command in a new folder with good.yaml and bad.yaml; a traceback fails the test."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "bad.yaml").write_text(BAD)

    def invoke(*arguments: str) -> Result:
        result = CliRunner().invoke(main, in_aten(arguments))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert "Traceback" not in result.output
        return result

    return invoke
