"""Completion as in real shells: the script from `opgen completion`, run by the shell itself."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import Opgen


@pytest.fixture
def environment(opgen: Opgen, tmp_path: Path) -> dict[str, str]:
    """A PATH with the `opgen` of this checkout, and native_functions.yaml in the current folder."""
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
    """Return bash's completions of the last of `words`."""
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


@pytest.mark.slow
def test_bash_completes_commands_options_and_names(environment: dict[str, str]) -> None:
    assert bash(environment, "opgen", "gen") == ["generate"]
    assert "--depfile" in bash(environment, "opgen", "generate", "--dep")
    assert bash(environment, "opgen", "lint", "--format", "sa") == ["sarif"]
    assert bash(environment, "opgen", "explain", "E030") == [f"E030{i}" for i in range(1, 10)]
    assert bash(environment, "opgen", "explain", "add") == ["add", "add.out"]
    assert bash(environment, "opgen", "stub", "good.yaml", "n") == ["neg"]
    # bad.yaml has errors, which completion must not print.
    assert bash(environment, "opgen", "stub", "bad.yaml", "n") == []


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


def typed(shell: list[str], environment: dict[str, str], keys: list[tuple[str, str]]) -> None:
    """Type into a shell on a terminal; wait each time until the expected text appears."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(shell[0], shell, {**environment, "TERM": "dumb", "PS1": "% ", "PROMPT": "% "})
    seen = ""
    try:
        for pressed, expected in keys:
            os.write(terminal, pressed.encode())
            seen, end = "", time.monotonic() + 60
            while expected not in seen:
                assert time.monotonic() < end, f"{pressed!r}: no {expected!r} in {seen!r}"
                if select.select([terminal], [], [], 1)[0]:
                    seen += os.read(terminal, 4096).decode(errors="replace")
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shell", [["bash", "--norc", "-i"], ["zsh", "-f", "-i"]], ids=lambda shell: shell[0]
)
def test_typing_and_pressing_tab(environment: dict[str, str], shell: list[str]) -> None:
    """The whole path: the line in the shell's start-up file, keys typed on a terminal, words on the screen."""
    if shutil.which(shell[0]) is None:
        pytest.skip(f"no {shell[0]}")
    set_up = "autoload -Uz compinit; compinit -u -D; " if shell[0] == "zsh" else ""
    ready = f'{set_up}eval "$(opgen completion {shell[0]})"; echo re""ady\n'
    typed(
        shell,
        environment,
        [
            (ready, "ready"),
            ("opgen gener\t", "opgen generate"),
            ("\x15opgen lint --for\t", "--format"),
            ("sar\t", "sarif"),
            ("\x15opgen stub ne\t", "neg"),
        ],
    )
