"""Obstacles in the place of files that opgen reads or writes: pipes, links, folders, other runs, crafted contents."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import click
import pytest
from cli_support import GOOD, Opgen

from opgen.cli.main import COMMANDS, main
from opgen.io.files import locked, temporary_name
from opgen.io.manifest import MANIFEST
from opgen.pipeline.stamp import STAMP
from opgen.verify.api import Report
from opgen.verify.runner.messages import FAILED, OperatorReport, Request, Shown, Verdict
from opgen.verify.runner.session import Verification
from support.build import tool
from support.selection import each_once

ARGUMENTS = ("generate", "good.yaml", "-o", "out")
HEADER = "out/include/aten/ops/neg.h"
UNFORMATTED = (
    "- func: lib::neg(Tensor self) -> Tensor\n  dispatch:\n    CPU: neg\n  variants: method\n"
)


def run_in_time(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run in another process, and fail if it waits for a pipe."""
    command = [tool("opgen"), *arguments, "--namespace", "aten"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


# Pipes and links


@pytest.mark.parametrize(
    ("place", "command"),
    each_once([f"out/{STAMP}", f"out/{MANIFEST}", HEADER], ["generate", "check"]),
)
def test_a_pipe_is_not_waited_for(opgen: Opgen, place: str, command: str) -> None:
    assert opgen(*ARGUMENTS).exit_code == 0
    os.unlink(place)
    os.mkfifo(place)
    done = run_in_time(command, "good.yaml", "-o", "out")
    fine = place.endswith(STAMP)
    assert done.returncode == (0 if fine else 1), done.stderr
    assert "Traceback" not in done.stderr
    assert stat.S_ISFIFO(os.lstat(place).st_mode)


@pytest.mark.parametrize("option", ["--depfile", "--output-list"])
def test_a_list_is_not_written_to_a_pipe(opgen: Opgen, option: str) -> None:
    Path("good.yaml").write_text(GOOD)
    os.mkfifo("list")
    done = run_in_time(*ARGUMENTS, option, "list")
    assert (done.returncode, "E0904" in done.stderr) == (1, True), done.stderr


FINDING = OperatorReport(
    "neg", verdicts=[Verdict("inplace-agrees", FAILED, findings=(Shown("", "", "x"),))]
)
# For each option and argument that names an output: a run that writes to `special`. Names of files that are inputs are in
# INPUTS, so that a new option is in either.
OUTPUTS = {
    ("new", "--output"): ("new", "mylib", "-o", "special"),
    ("import", "--output"): ("import", "x.cpp", "-o", "special", "--force"),
    ("stub", "--output"): ("stub", "good.yaml", "-o", "special"),
    ("build", "--output"): ("build", "good.yaml", "-o", "special"),
    ("generate", "--output"): ("generate", "good.yaml", "-o", "special"),
    ("generate", "--depfile"): (*ARGUMENTS, "--depfile", "special"),
    ("generate", "--output-list"): (*ARGUMENTS, "--output-list", "special"),
    ("verify", "--report"): ("verify", "good.yaml", "--load", "x", "--report", "special"),
    ("verify", "--programs"): ("verify", "good.yaml", "--load", "x", "--programs", "special"),
    ("coverage", "--html"): ("coverage", "backend.yaml", "good.yaml", "--html", "special"),
}
INPUTS = {
    *("yaml", "given", "old", "new", "backend", "operators", "sources"),
    *("--tags", "--old-tags", "--derivatives", "--include", "--extends", "--select"),
    *("--backend-yaml", "--impl-path", "--kernels", "--python-folder", "--domains", "--build"),
    *("--load", "--path", "--from-library", "--from-registrations", "--from-trace", "--allow"),
    *("--against",),
}


def test_every_option_that_names_a_file_is_an_input_or_an_output() -> None:
    """Protects `OUTPUTS` from an option that is added and forgotten."""
    found = set()
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        for param in command.params:
            is_path = isinstance(param.type, click.Path) or re.search(
                "FILE|FOLDER", param.metavar or ""
            )
            if is_path and not {param.name, *param.opts} & INPUTS:
                found.add((name, max(param.opts, key=len)))
    # `check -o` is a folder that is only read.
    assert found - {("check", "--output")} == OUTPUTS.keys()


@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
@pytest.mark.parametrize("option", OUTPUTS, ids=" ".join)
def test_a_special_file_is_never_replaced(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch, option: tuple[str, str], kind: str
) -> None:
    """As root, a program that renames a file over /dev/null ends the device for the whole machine."""
    arguments = list(OUTPUTS[option])
    special = f"special{'.json' if '--report' in arguments else ''}"
    arguments = [special if word == "special" else word for word in arguments]
    Path("x.cpp").write_text('TORCH_LIBRARY(lib, m) { m.def("neg(Tensor self) -> Tensor"); }\n')
    Path("backend.yaml").write_text("backend: XLA\ncpp_namespace: x\nsupported:\n- neg\n")
    ran = Report(Verification(Request(), [FINDING], 0.0, False, 1))
    monkeypatch.setattr("opgen.cli.verify.run", lambda *_, **__: ran)
    if kind == "pipe":
        os.mkfifo(special)
    else:
        os.symlink("/dev/null", special)
    before = os.lstat(special)
    found = opgen(*arguments)
    assert (found.exit_code, special in found.stderr) == (1, True), found.output
    assert os.path.samestat(before, os.lstat(special))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_link_in_the_place_of_an_output_is_not_up_to_date(opgen: Opgen) -> None:
    """The target of the link has the right bytes; `generate` still rejects the link."""
    opgen(*ARGUMENTS)
    os.rename(HEADER, "elsewhere.h")
    os.symlink(os.path.abspath("elsewhere.h"), HEADER)
    found = opgen("check", "good.yaml", "-o", "out")
    assert (found.exit_code, found.stdout) == (1, "a link: include/aten/ops/neg.h\n")
    found = opgen(*ARGUMENTS)
    assert found.exit_code == 1 and "is a link" in found.stderr


def test_a_linked_folder_is_not_up_to_date(opgen: Opgen) -> None:
    opgen(*ARGUMENTS)
    os.rename("out/src", "src")
    os.symlink(os.path.abspath("src"), "out/src")
    found = opgen("check", "good.yaml", "-o", "out")
    assert found.exit_code == 1 and "missing: src/" in found.stdout


# Crafted contents

PATHS = (
    "\ud800",
    "a\n::error::stop",
    "a\u2028b",
    "\x1b[2J",
    "../up",
    "a/../../up",
    "/etc/passwd",
    "a/" * 400_000 + "a",
    "a" * 3000,
    "é",
)


@pytest.mark.parametrize(
    ("path", "key", "command"),
    each_once(PATHS, ["files", "pending"], ["generate", "generate", "check"]),
    ids=lambda value: ascii(value)[:20],
)
def test_a_path_that_is_not_ours_stops_the_run(
    opgen: Opgen, path: str, key: str, command: str
) -> None:
    """It is printed so that neither a terminal nor GitHub executes it as a command."""
    os.makedirs("out")
    value = {"format": 2, "files": [], key: {path: "0"} if key == "pending" else [path]}
    Path("out", MANIFEST).write_text(json.dumps(value))
    found = opgen(command, "good.yaml", "-o", "out")
    assert found.exit_code == 1 and "E0902" in found.stderr
    assert found.stderr.isascii() and "\x1b" not in found.stderr
    assert not any(line.startswith("::") for line in found.output.splitlines())
    assert os.listdir("out") == [MANIFEST]


SHAPES = (
    "",
    "[]",
    "null",
    "{",
    '{"files": []}',
    '{"files": {}, "format": "1"}',
    '{"files": {}, "format": ' + "9" * 5000 + "}",
    '{"files": [], "format": 2, "pending": 1}',
    '{"files": [1], "format": 2}',
    '{"files": {}, "format": 2}',
    "[" * 200_000,
    '{"a":' * 200_000,
    '"\\ud800"',
    '{"files": {}, "format": "\\ud800\\n::error::x"}',
)


@pytest.mark.parametrize("text", SHAPES, ids=lambda text: text[:20])
def test_a_manifest_of_any_shape_is_answered(opgen: Opgen, text: str) -> None:
    os.makedirs("out")
    Path("out", MANIFEST).write_text(text)
    for command in ("generate", "check"):
        found = opgen(command, "good.yaml", "-o", "out")
        assert found.exit_code == 1 and "E0902" in found.stderr
        assert not any(line.startswith("::") for line in found.stderr.splitlines())


def test_an_endless_manifest_is_rejected(opgen: Opgen) -> None:
    os.makedirs("out")
    with Path("out", MANIFEST).open("wb") as file:
        file.truncate(40_000_000)
    found = opgen(*ARGUMENTS)
    assert found.exit_code == 1 and "E0902" in found.stderr


BODIES = (
    "[]",
    "null",
    "1",
    '{"frame": 1}',
    "[" * 200_000,
    '{"files": 1}',
    '{"files": {"\\ud800": []}}',
)


@pytest.mark.parametrize(
    ("body", "what"),
    each_once(BODIES, ["files", "folders", "schemas", "report", None]),
    ids=lambda value: str(value)[:20],
)
def test_an_invalid_stamp_is_ignored(opgen: Opgen, body: str, what: str | None) -> None:
    """It is ignored even if its checksum and key are correct."""
    opgen(*ARGUMENTS)
    path = Path("out", STAMP)
    head, _, said = path.read_bytes().partition(b"\n")
    if what is not None:
        try:
            said = json.dumps({**json.loads(said), what: json.loads(body)}).encode()
        except (ValueError, RecursionError):
            return
    else:
        said = body.encode()
    import hashlib  # noqa: PLC0415

    words = head.split(b" ")
    words[-1] = hashlib.sha256(said).hexdigest().encode()
    path.write_bytes(b" ".join(words) + b"\n" + said)
    found = opgen(*ARGUMENTS)
    assert found.exit_code == 0, found.output
    assert "0 written" in found.stdout


# Files of the user


def test_a_read_only_file_is_not_formatted(opgen: Opgen) -> None:
    path = Path("mine.yaml")
    path.write_text(UNFORMATTED)
    path.chmod(0o444)
    found = opgen("format", "mine.yaml")
    assert found.exit_code == 1 and "it is read-only" in found.stderr
    assert path.read_text() == UNFORMATTED


def test_a_file_with_other_names_is_not_formatted(opgen: Opgen) -> None:
    path = Path("mine.yaml")
    path.write_text(UNFORMATTED)
    os.link(path, "other.yaml")
    found = opgen("format", "mine.yaml")
    assert found.exit_code == 1 and "other names" in found.stderr
    assert os.path.samefile(path, "other.yaml")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can change the owner of a file")
def test_a_formatted_file_keeps_its_owner(opgen: Opgen) -> None:
    path = Path("mine.yaml")
    path.write_text(UNFORMATTED)
    path.chmod(0o4640)
    os.chown(path, 1234, 5678)
    os.chmod(path, 0o640)
    assert opgen("format", "mine.yaml").exit_code == 0
    found = path.stat()
    assert path.read_text() != UNFORMATTED
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 5678, 0o640)


@pytest.mark.parametrize(
    "command",
    [
        ("format", "mine.yaml"),
        ("lint", "--fix", "bad.yaml"),
        ("new", "package"),
        ("stub", "neg", "good.yaml", "-o", "new.cpp"),
        (*ARGUMENTS, "--depfile", "depfile"),
        (*ARGUMENTS, "--output-list", "list"),
    ],
    ids=lambda command: command[0],
)
def test_leftovers_of_a_killed_run_are_removed_by_the_next(
    opgen: Opgen, command: tuple[str, ...]
) -> None:
    Path("mine.yaml").write_text(UNFORMATTED)
    Path("bad.yaml").write_text("- func: lib::neg(Tensro self) -> Tensor\n")
    left = Path(temporary_name())
    left.write_text("half")
    folder = Path(temporary_name())
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("half")
    mine = Path(".opgen-mine.tmp")
    mine.write_text("mine")
    opgen(*command)
    assert (left.exists(), folder.exists(), mine.exists()) == (False, False, True)


# New packages


def files(folder: str) -> dict[str, bytes]:
    found = (path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


KILLED = """
import os, sys
from opgen.cli.main import main
count, real = int(sys.argv.pop(1)), os.rename
def rename(*paths):
    global count
    count -= 1
    if count < 0:
        if kill:
            os.kill(os.getpid(), 9)
        raise OSError(28, "No space left on device")
    real(*paths)
kill = sys.argv.pop(1) == "kill"
os.rename = rename
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "fail"])
def test_an_empty_folder_is_filled_or_left_empty(opgen: Opgen, how: str) -> None:
    """A failure leaves nothing behind, and leftovers of a killed run do not stop the next."""
    opgen("new", "mylib", "-o", "wanted")
    stopped = 0
    for count in range(20):
        folder = f"made{count}"
        os.mkdir(folder)
        command = [sys.executable, "-c", KILLED, str(count), how, "new", "mylib", "-o", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        stopped += 1
        if how == "fail":
            assert "E0904" in done.stderr and os.listdir(folder) == []
        assert opgen("new", "mylib", "-o", folder).exit_code == 0
        assert files(folder) == files("wanted")
    assert stopped > 2


def test_a_folder_with_other_files_is_left_alone(opgen: Opgen) -> None:
    """This also holds if a killed run has left something there."""
    opgen("new", "mylib", "-o", "there")
    Path("there", "README.md").write_text("mine")
    os.mkdir(Path("there", temporary_name()))
    before = files("there")
    found = opgen("new", "mylib", "-o", "there")
    assert found.exit_code == 1 and "E0901" in found.stderr
    assert files("there") == before


# Others


def test_a_line_break_in_a_depfile_is_rejected(opgen: Opgen) -> None:
    os.mkdir("a\nb")
    Path("a\nb", "good.yaml").write_text(GOOD)
    found = opgen("generate", "a\nb/good.yaml", "-o", "out", "--depfile", "depfile")
    assert found.exit_code == 1 and "line break" in found.stderr
    assert not os.path.exists("depfile")


def test_a_folder_that_is_replaced_during_a_run_is_an_error(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    opgen(*ARGUMENTS)
    Path("good.yaml").write_text(GOOD + "\n- func: abs(Tensor self) -> Tensor\n")
    real = os.mkdir
    monkeypatch.setattr("opgen.io.writer.read_manifest", _replacing(Path("out"), real))
    found = opgen(*ARGUMENTS)
    assert (
        found.exit_code == 1
        and "E0904" in found.stderr
        and "another folder has replaced it" in found.stderr
    )
    assert os.listdir("out") == []


def _replacing(folder: Path, mkdir: object) -> object:
    from opgen.io.manifest import read_manifest  # noqa: PLC0415

    def read(directory: Path, diagnostics: object) -> object:
        found = read_manifest(directory, diagnostics)  # type: ignore[arg-type]
        os.rename(folder, "moved")
        os.mkdir(folder)
        return found

    return read


def test_one_build_at_a_time(opgen: Opgen) -> None:
    """The second build stops before it touches files that the first one compiles."""
    folder = Path("out", "cmake-build")
    folder.mkdir(parents=True)
    with locked(folder):
        found = opgen("build", "good.yaml", "-o", "out")
    assert found.exit_code == 1 and "E0903" in found.stderr
    assert os.listdir("out") == ["cmake-build"]


def test_a_slow_clock_gets_no_stamp(opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit of the same size within one tick of the clock would not be noticed."""
    real = os.fstat

    def coarse(handle: int) -> os.stat_result:
        found = real(handle)
        seconds = int(found.st_mtime)
        values = list(found)
        more = {"st_mtime_ns": seconds * 10**9}
        return os.stat_result(values, more)

    monkeypatch.setattr(os, "fstat", coarse)
    assert opgen(*ARGUMENTS).exit_code == 0
    assert not os.path.exists(f"out/{STAMP}")


def test_a_pipe_among_sources_is_skipped(opgen: Opgen) -> None:
    os.mkdir("sources")
    os.mkfifo("sources/a.cpp")
    Path("sources/b.cpp").write_text('TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor"); }\n')
    command = [tool("opgen"), "import", "sources"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "lib::f" in done.stdout, done.stderr
