"""Completion as shells do it: their own script, from `opgen completion`, run by the shell itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Opgen


@pytest.fixture
def environment(opgen: Opgen, tmp_path: Path) -> dict[str, str]:
    """A PATH with an `opgen` of this checkout, and native_functions.yaml in the folder."""
    shutil.copy("good.yaml", "native_functions.yaml")
    script = tmp_path / "bin" / "opgen"
    script.parent.mkdir()
    program = "from opgen.cli.main import main; main(prog_name='opgen')"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{program}" "$@"\n')
    script.chmod(0o755)
    paths = os.pathsep.join(path for path in sys.path if path)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": paths}


def bash(environment: dict[str, str], *words: str) -> list[str]:
    """What bash offers for the last of `words`."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    listed = " ".join(f"'{word}'" for word in words)
    script = (
        'eval "$(opgen completion bash)"\n'
        f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}\n"
        "_opgen_completion opgen\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    command = ["bash", "--norc", "-c", script]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_bash_completes_commands_options_and_names(environment: dict[str, str]) -> None:
    assert bash(environment, "opgen", "gen") == ["generate"]
    assert "--depfile" in bash(environment, "opgen", "generate", "--dep")
    assert bash(environment, "opgen", "lint", "--format", "sa") == ["sarif"]
    assert bash(environment, "opgen", "explain", "E030") == [f"E030{i}" for i in range(1, 10)]
    assert bash(environment, "opgen", "explain", "add") == ["add", "add.out"]
    assert bash(environment, "opgen", "stub", "--yaml", "good.yaml", "n") == ["neg"]
    # bad.yaml has errors, which completion is no place for.
    assert bash(environment, "opgen", "stub", "--yaml", "bad.yaml", "n") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(environment: dict[str, str], opgen: Opgen, shell: str) -> None:
    script = opgen("completion", shell).stdout
    assert "_OPGEN_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}: its script is made, but not run")
    Path("script").write_text(script)
    subprocess.run([shell, "-n", "script"], env=environment, check=True, capture_output=True)
    if shell == "fish":
        offered = subprocess.run(
            ["fish", "-c", "source script; complete -C 'opgen explain add'"],
            env={**environment, "HOME": str(Path.cwd())},
            check=True,
            capture_output=True,
            text=True,
        )
        assert offered.stdout.split() == ["add", "add.out"]
