"""The hooks for pre-commit, and the snippets of docs/guides/ci.md, run by pre-commit itself in a git repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_support import Opgen

from opgen.cli.main import COMMANDS

ROOT = Path(__file__).parents[3]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
CI = ROOT / "docs" / "guides" / "ci.md"


def hooks() -> list[dict[str, Any]]:
    found = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def snippets() -> list[Any]:
    parts = CI.read_text(encoding="utf-8").split("```yaml\n")[1:]
    return [yaml.safe_load(part.partition("```")[0]) for part in parts]


def test_hooks_run_commands_that_exist() -> None:
    ids = {hook["id"] for hook in hooks()}
    assert ids == {"opgen-lint", "opgen-format", "opgen-check"}
    for hook in hooks():
        program, command = hook["entry"].split()
        assert program == "opgen" and command in COMMANDS


def test_the_files_shown_in_ci_md_exist() -> None:
    remote, local, workflow, _ = snippets()
    ids = {hook["id"] for hook in hooks()}
    assert {hook["id"] for hook in remote["repos"][0]["hooks"]} == ids
    assert local["repos"][0]["hooks"][0]["entry"] == "opgen lint"
    runs = [step.get("run", "") for step in workflow["jobs"]["opgen"]["steps"]]
    commands = [run.split()[1] for run in runs if run.startswith("opgen ")]
    assert set(commands) <= set(COMMANDS) and "check" in commands


@pytest.mark.parametrize("format_name", ["github", "sarif"])
def test_the_lines_of_the_job_run(opgen: Opgen, format_name: str) -> None:
    """Run them as the workflow does, on a valid and on an invalid file."""
    assert opgen("lint", "good.yaml", "--format", format_name, "--deny-warnings").exit_code == 0
    result = opgen("lint", "bad.yaml", "--format", format_name)
    assert result.exit_code == 1 and result.stdout and not result.stderr


@pytest.fixture
def repository(opgen: Opgen, tmp_path: Path) -> dict[str, str]:
    """Make a git repository with our hooks as local ones, running this checkout's opgen; return the environment."""
    if shutil.which("pre-commit") is None or shutil.which("git") is None:
        pytest.skip("pre-commit is not installed")
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "opgen"
    program = "from opgen.cli.main import main; main(prog_name='opgen')"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{program}" "$@"\n')
    script.chmod(0o755)
    local = [{**hook, "language": "system"} for hook in hooks()]
    local[-1]["args"] = ["native_functions.yaml", "-o", "generated"]
    config = {"repos": [{"repo": "local", "hooks": local}]}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    Path(".gitignore").write_text("bin\nhome\n")
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": paths,
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
    }
    git("init", "-q")
    return environment


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def pre_commit(environment: dict[str, str]) -> tuple[int, str]:
    git("add", "-A")
    command = ["pre-commit", "run", "--all-files", "--color", "never"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


@pytest.mark.slow
def test_pre_commit_runs_the_hooks(repository: dict[str, str], opgen: Opgen) -> None:
    """A valid repository passes; an invalid schema, keys out of order and a stale tree each fail."""
    schema = Path("native_functions.yaml")
    good = "- namespace: aten\n\n" + Path("good.yaml").read_text()
    schema.write_text(good)
    opgen("format", "native_functions.yaml")
    good = schema.read_text()
    opgen("generate", "native_functions.yaml", "-o", "generated")
    status, output = pre_commit(repository)
    assert status == 0, output

    schema.write_text(good.replace("(Tensor self) ->", "(Tensr self) ->"))
    status, output = pre_commit(repository)
    assert status == 1 and "error[E0307]" in output and "native_functions.yaml" in output

    entry = "\n- func: last(Tensor self) -> Tensor\n  dispatch:\n    CPU: last_cpu\n  variants: method\n"
    schema.write_text(good + entry)
    status, output = pre_commit(repository)
    assert status == 1 and "files were modified by this hook" in output
    status, output = pre_commit(repository)
    assert status == 1 and "opgen check" in output and "files were modified" not in output
    opgen("generate", "native_functions.yaml", "-o", "generated")
    assert pre_commit(repository)[0] == 0
