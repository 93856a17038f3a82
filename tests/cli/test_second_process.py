"""The second process that does half of the work: what it gives back, its failures, and that no byte depends on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
    pytest.skip("opgen forks on Linux where there are two processors", allow_module_level=True)

BESIDE = """
import _thread, os, signal, sys, threading, time
from opgen.forking import beside

def fails_there():
    if os.getpid() != parent:
        raise ValueError("there")
    return "here"

def is_killed_there():
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return "here"

def fails():
    raise ValueError("everywhere")

def sleeps():
    time.sleep(600)

def no_room():
    raise BlockingIOError(11, "Resource temporarily unavailable")

parent = os.getpid()
with beside(lambda: (os.getpid() == parent, "x" * 10**6)) as value:
    here, text = value(lambda: None)
    print(here, len(text))
for work in fails_there, is_killed_there:
    with beside(work) as value:
        print(value(work))
with beside(fails) as value:
    try:
        value(fails)
    except ValueError as error:
        print(error)
try:
    with beside(sleeps):
        raise KeyError("ends")
except KeyError as error:
    print(error)
real, os.fork = os.fork, no_room
with beside(os.getpid) as value:
    print(value(os.getpid) == parent)
os.fork = real
with beside(os.getpid, worth=False) as value:
    print(value(os.getpid) == parent)
# Python does not count this thread, as it does not count those of libraries.
_thread.start_new_thread(time.sleep, (600,))
with beside(os.getpid) as value:
    print(threading.active_count(), value(os.getpid) == parent)
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("none left")
"""

RUN = """
import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv.pop(1))])
real = os.fork
os.fork = lambda: (print("forks", file=sys.stderr), real())[1]
from opgen.cli.main import main
main()
"""

ATEN = ("--namespace", "aten")


def entries(count: int) -> str:
    """Operators of every kind of group, in as many names."""
    return "".join(
        f"- func: f{i}(Tensor self, int n=1) -> Tensor\n"
        f"  structured_delegate: f{i}.out\n  variants: function, method\n\n"
        f"- func: f{i}.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)\n"
        f"  structured: True\n  dispatch:\n    CPU: f{i}_out\n\n"
        f"- func: g{i}(Tensor self, Tensor[] others) -> (Tensor, Tensor)\n"
        f"  dispatch:\n    CPU: g{i}\n  autogen: g{i}.out\n\n"
        for i in range(count)
    )


def run(processors: int, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, str(processors), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=check)


def contents(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_its_value_is_that_of_one_process() -> None:
    """Errors, a kill, an early end, threads: the work is done here then, and no process is left.

    From 3.12 on Python warns of a fork beside threads; nothing here may be what it warns of.
    """
    command = [sys.executable, "-W", "error", "-c", BESIDE]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [
        "False 1000000",
        "here",
        "here",
        "everywhere",
        "'ends'",
        "True",
        "True",
        "1 True",
        "none left",
    ]
    assert result.stderr == ""


def test_a_tree_of_two_processes_is_that_of_one(tmp_path: Path) -> None:
    yaml = tmp_path / "native_functions.yaml"
    yaml.write_text(entries(250))
    one = run(1, "generate", str(yaml), "-o", str(tmp_path / "one"), "--python", *ATEN)
    two = run(2, "generate", str(yaml), "-o", str(tmp_path / "two"), "--python", *ATEN)
    assert (one.stderr, two.stderr) == ("", "forks\nforks\n")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert (
        run(2, "check", str(yaml), "-o", str(tmp_path / "one"), "--python", *ATEN).returncode == 0
    )


def test_errors_are_those_of_one_process(tmp_path: Path) -> None:
    """What the second process makes of operators with errors, nobody sees."""
    yaml = tmp_path / "native_functions.yaml"
    yaml.write_text(entries(150) + "- func: bad(Tensor self, Tensor self) -> Dimname\n")
    arguments = ("generate", str(yaml), "-o", str(tmp_path / "out"), *ATEN)
    one, two = (run(count, *arguments, check=False) for count in (1, 2))
    assert one.returncode == two.returncode == 1
    assert one.stderr == two.stderr.replace("forks\n", "")
    assert "error" in one.stderr
    assert not (tmp_path / "out").exists()
