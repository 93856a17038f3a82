"""Files of other kinds on the command line: every command reports one diagnostic, and writes nothing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cli_support import Opgen

ERRORS = Path(__file__).parents[2] / "golden" / "errors"
SCHEMA = "E0113_executorch_by_name.yaml"
BACKEND = "E0113_ascend.backend.yaml"
COMMANDS = (
    ("generate", "given.yaml", "-o", "out"),
    ("check", "given.yaml", "-o", "out"),
    ("build", "given.yaml", "-o", "out"),
    ("lint", "given.yaml"),
    ("lint", "given.yaml", "--fix"),
    ("lint", "given.yaml", "--strict-torchgen"),
    ("lint", "given.yaml", "--target", "torch"),
    ("format", "given.yaml"),
    ("dump", "given.yaml"),
    ("compat", "given.yaml", "good.yaml"),
    ("compat", "good.yaml", "given.yaml"),
    ("stub", "add", "--yaml", "given.yaml"),
    ("explain", "add", "--yaml", "given.yaml"),
    ("coverage", "xla.yaml", "--yaml", "given.yaml"),
)
BACKEND_COMMANDS = (
    ("generate", "good.yaml", "--backend-yaml", "given.yaml", "-o", "out"),
    ("check", "good.yaml", "--backend-yaml", "given.yaml", "-o", "out"),
    ("lint", "good.yaml", "--backend-yaml", "given.yaml"),
    ("dump", "good.yaml", "--backend-yaml", "given.yaml"),
    ("stub", "add", "--yaml", "good.yaml", "--backend-yaml", "given.yaml"),
    ("coverage", "given.yaml", "--yaml", "good.yaml"),
)


def _reports_one(opgen: Opgen, case: str, command: tuple[str, ...]) -> None:
    shutil.copy(ERRORS / case, "given.yaml")
    Path("xla.yaml").write_text("backend: XLA\ncpp_namespace: x\nsupported: [neg]\n")
    before = {path: path.read_bytes() for path in Path.cwd().rglob("*")}
    result = opgen(*command)
    assert result.exit_code == 1
    errors = [line for line in result.stderr.splitlines() if line.startswith("error[")]
    assert [line.partition("]")[0] for line in errors] == ["error[E0113"], result.stderr
    assert "given.yaml:" in result.stderr
    assert {path: path.read_bytes() for path in Path.cwd().rglob("*")} == before


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_as_schema_file(opgen: Opgen, command: tuple[str, ...]) -> None:
    _reports_one(opgen, SCHEMA, command)


@pytest.mark.parametrize("command", BACKEND_COMMANDS, ids=" ".join)
def test_as_backend_file(opgen: Opgen, command: tuple[str, ...]) -> None:
    _reports_one(opgen, BACKEND, command)


@pytest.mark.parametrize("case", sorted(ERRORS.glob("E0113_*.txt")), ids=lambda path: path.stem)
def test_hints_name_existing_options(opgen: Opgen, case: Path) -> None:
    found = re.findall(r"\^ pass it by (--\S+)", case.read_text())
    options = opgen("generate", "--help").output
    assert all(option in options for option in found)
