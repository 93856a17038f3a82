"""Where diagnostics go: those for people to stderr, those for programs to stdout, where nothing else is printed.

Programs can read stdout as one JSON text, as JSON lines or as workflow commands, for every command, outcome and
locale. The contents of each format are tested in tests/unit/diagnostics.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Opgen

# A file without findings, one with a warning, and one with an error.
GOOD = "- func: mine::neg(Tensor self) -> Tensor\n  dispatch:\n    CPU: neg_cpu\n"
WARN = GOOD.replace("CPU:", "CPU, SparseCPU:")
BAD = GOOD.replace("Tensor self", "Cylinder self")
BLANKS = GOOD.replace("Tensor self", "Tensor  self")
BACKEND = "backend: XLA\ncpp_namespace: mine\nsupported: [neg]\nnon_native: []\n"

FORMATS = ("json", "github", "sarif")
# Commands that print diagnostics, and perhaps a summary for people.
REPORTING = (
    ("lint", "f.yaml"),
    ("lint", "f.yaml", "--diff"),
    ("lint", "f.yaml", "--fix"),
    ("format", "f.yaml"),
    ("format", "f.yaml", "--check"),
    ("format", "f.yaml", "--diff"),
    ("generate", "f.yaml", "-o", "out"),
    ("generate", "f.yaml", "-o", "out", "--depfile", "d"),
    ("check", "f.yaml", "-o", "out"),
    ("stub", "neg", "f.yaml", "-o", "new.cpp"),
)
# Commands that print a document, and how it begins.
DOCUMENTS = {
    ("dump", "f.yaml"): '[{"name"',
    ("dump", "f.yaml", "--ndjson"): '{"name"',
    ("explain", "neg", "f.yaml"): "mine::neg",
    ("stub", "neg", "f.yaml"): "#include",
    ("select", "mine::neg", "f.yaml"): "# 1 of",
    ("generate", "f.yaml", "-o", "out", "--list-outputs"): "out/CMakeLists.txt",
}


def _codes(stdout: str, form: str) -> list[str]:
    """Return the codes that a program finds on stdout."""
    if form == "sarif":
        (run,) = json.loads(stdout)["runs"]
        return [result["ruleId"] for result in run["results"]]
    lines = stdout.splitlines()
    if form == "json":
        return [json.loads(line)["code"] for line in lines]
    assert all(line.startswith(("::error ", "::warning ")) for line in lines), stdout
    return [line.partition("title=")[2].partition(",")[0] for line in lines]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", REPORTING, ids=" ".join)
def test_stdout_holds_diagnostics_alone(opgen: Opgen, command: tuple[str, ...], form: str) -> None:
    """Each outcome twice: the second run of `generate` uses the stamp that the first has left."""
    for text, codes in ((BAD, ["E0307"]), (GOOD, []), (GOOD, [])):
        Path("f.yaml").write_text(text)
        Path("new.cpp").unlink(missing_ok=True)
        human = opgen(*command)
        Path("new.cpp").unlink(missing_ok=True)
        result = opgen(*command, "--format", form)
        assert _codes(result.stdout, form) == codes
        assert "E0307" not in result.stderr and "$schema" not in result.stderr
        if command[0] != "generate":
            assert result.exit_code == human.exit_code
        assert (result.exit_code == 1) or not codes


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", DOCUMENTS, ids=" ".join)
def test_a_document_has_stdout_to_itself(opgen: Opgen, command: tuple[str, ...], form: str) -> None:
    """Warnings are not mixed into it; if there is no document, errors are printed in its place."""
    Path("f.yaml").write_text(GOOD)
    Path("xla.yaml").write_text(BACKEND)
    given = (*command, "--backend-yaml", "xla.yaml", "--format", form)
    document = opgen(*command).stdout
    assert document.startswith(DOCUMENTS[command])
    result = opgen(*given)
    assert result.exit_code == 0 and result.stdout.startswith(DOCUMENTS[command])
    # From the backend's file, which not every command reads.
    assert "W1801" not in result.stdout
    denied = opgen(*given, "--deny-warnings")
    if denied.exit_code:
        assert _codes(denied.stdout, form) == ["W1801"] and not denied.stderr
    Path("f.yaml").write_text(BAD)
    result = opgen(*command, "--format", form)
    assert (result.exit_code, result.stderr) == (1, "")
    assert _codes(result.stdout, form) == ["E0307"]


@pytest.mark.parametrize("form", FORMATS)
def test_differences_and_summaries_are_on_stderr(opgen: Opgen, form: str) -> None:
    Path("f.yaml").write_text(GOOD)
    opgen("generate", "f.yaml", "-o", "out")
    Path("f.yaml").write_text(GOOD.replace("neg_cpu", "other_cpu"))
    stale = opgen("check", "f.yaml", "-o", "out", "--format", form)
    assert stale.exit_code == 1 and _codes(stale.stdout, form) == []
    assert "+++" in stale.stderr and "files differ" in stale.stderr
    assert "+++" in opgen("check", "f.yaml", "-o", "out").stdout
    written = opgen("generate", "f.yaml", "-o", "out", "--format", form)
    assert _codes(written.stdout, form) == [] and " written, " in written.stderr
    Path("f.yaml").write_text(BLANKS)
    for command in (("format", "--diff"), ("lint", "--diff")):
        changed = opgen(*command, "f.yaml", "--format", form)
        assert changed.exit_code == 1 and "+++" in changed.stderr, command
        assert _codes(changed.stdout, form) == (["W1019"] if command[0] == "lint" else [])


@pytest.mark.parametrize("form", FORMATS)
def test_warnings_of_a_run_that_does_nothing(opgen: Opgen, form: str) -> None:
    """Warnings remembered in a folder's stamp are printed to the same stream, once, with or without a depfile."""
    Path("warn.yaml").write_text(
        GOOD.replace("  dispatch", "  variants: function, method\n  dispatch")
    )
    given = ("generate", "warn.yaml", "-o", "out", "--target", "torch", "--format", form)
    found = [opgen(*given), opgen(*given), opgen(*given, "--depfile", "d")]
    assert [_codes(result.stdout, form) for result in found] == [_codes(found[0].stdout, form)] * 3
    assert _codes(found[0].stdout, form) and all(result.exit_code == 0 for result in found)
    assert ": 0 written" in found[2].stderr


def test_the_human_format_is_unchanged(opgen: Opgen) -> None:
    Path("f.yaml").write_text(WARN)
    result = opgen("lint", "f.yaml")
    assert "warning[W1009]" in result.stderr
    assert result.stdout == "1 entry, 1 operator: no errors, 1 warning in 1 file\n"
    assert opgen("generate", "f.yaml", "-o", "out").stdout.startswith("out: ")


def test_a_backend_that_supports_nothing_is_json(opgen: Opgen) -> None:
    Path("xla.yaml").write_text("backend: XLA\ncpp_namespace: mine\n")
    given = ("coverage", "xla.yaml", "good.yaml", "--against", "all")
    assert opgen(*given).stdout == "the backend supports nothing\n"
    result = opgen(*given, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "") and json.loads(result.stdout) is None


def _stdout(folder: Path, encoding: str, *arguments: str) -> tuple[int, str]:
    """Return what a process writes to a pipe with this encoding, and its exit code; stderr must be empty."""
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "opgen", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.stderr == b""
    return done.returncode, done.stdout.decode("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_pipe_of_any_encoding_gets_utf_8(tmp_path: Path, encoding: str) -> None:
    """Protects `opgen lint --format sarif > opgen.sarif` in any locale: no traceback, valid JSON."""
    name = "größe-\u5c3a.yaml"
    good = "- func: mine::a(Tensor self, str s='\u5c3a') -> Tensor\n"
    bad = good.replace("Tensor self", "Cylinder self").encode() + b"- func: \xff\n"
    (tmp_path / name).write_bytes(bad)
    for form in FORMATS:
        code, text = _stdout(tmp_path, encoding, "lint", name, "--format", form)
        assert code == 1 and {"E0307", "E0101"} <= set(_codes(text, form))
        assert form == "sarif" or name in text
    (tmp_path / name).write_text(good, encoding="utf-8")
    for command in (("dump", name), ("explain", "a", name), ("stub", name)):
        code, text = _stdout(tmp_path, encoding, *command)
        assert code == 0 and "\u5c3a" in text
