"""Files of other kinds on the command line: every command reports one diagnostic, and writes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_support import Opgen

from support.error_cases import Case, error_case, error_cases

SCHEMA = "E0113 executorch by name"
BACKEND = "E0113 ascend"
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
    ("stub", "add", "given.yaml"),
    ("explain", "add", "given.yaml"),
    ("coverage", "xla.yaml", "given.yaml"),
)
BACKEND_COMMANDS = (
    ("generate", "good.yaml", "--backend-yaml", "given.yaml", "-o", "out"),
    ("check", "good.yaml", "--backend-yaml", "given.yaml", "-o", "out"),
    ("lint", "good.yaml", "--backend-yaml", "given.yaml"),
    ("dump", "good.yaml", "--backend-yaml", "given.yaml"),
    ("stub", "add", "good.yaml", "--backend-yaml", "given.yaml"),
    ("coverage", "given.yaml", "good.yaml"),
)


def _reports_one(opgen: Opgen, case: str, command: tuple[str, ...]) -> None:
    Path("given.yaml").write_bytes(error_case(case).content)
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


@pytest.mark.parametrize("case", [c for c in error_cases() if c.code == "E0113"], ids=str)
def test_hints_name_existing_options(opgen: Opgen, case: Case) -> None:
    found = re.findall(r"\^ pass it by (--\S+)", case.report)
    options = opgen("generate", "--help").output
    assert all(option in options for option in found)
