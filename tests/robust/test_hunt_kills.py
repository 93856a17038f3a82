"""Kills and failing system calls in real runs of `opgen generate`: what the next run finds, and that there is one.

A process is killed (`kill -9`) at a random moment, or its n-th system call fails. Then: nobody holds the lock, the next
run succeeds, and its tree is that of a run that nobody disturbed. The counts are small here; OPGEN_KILLS and
OPGEN_FAILING_CALLS say how many, and the nightly ones are of PyTorch's file.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.files import is_temporary
from support.pytorch import packaged_native_functions

if sys.platform != "linux":
    pytest.skip("of Linux's processes and system calls", allow_module_level=True)

RecordProperty = Callable[[str, object], None]
COMMAND = (sys.executable, "-c", "from opgen.cli.main import main; main()")
# After a kill, the second process may end a file that it is in the middle of.
PATIENCE_S = 10.0


def entries(count: int) -> str:
    """So many operators that there is a second process, whose texts are more than a pipe holds."""
    return "".join(
        f"- func: f{i}(Tensor self, int n=1) -> Tensor\n  dispatch:\n    CPU: f{i}\n\n"
        for i in range(count)
    )


def generate(yaml: Path, out: Path, *, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    arguments = ("generate", str(yaml), "-o", str(out), "--namespace", "aten")
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


def contents(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in found
        if path.name != ".opgen_stamp"
    }


def repair(yaml: Path, out: Path) -> None:
    """One run after the disturbance, which waits for nobody for long."""
    end = time.monotonic() + PATIENCE_S
    while True:
        done = generate(yaml, out)
        if "E0903" not in done.stderr or time.monotonic() > end:
            break
        time.sleep(0.05)
    assert done.returncode == 0, done.stderr


def assert_repaired(yaml: Path, out: Path, wanted: dict[str, bytes]) -> None:
    repair(yaml, out)
    found = contents(out)
    assert not [path for path in found if is_temporary(path.rpartition("/")[2])]
    assert found == wanted


def kill_runs(yamls: list[Path], folder: Path, kills: int, record: RecordProperty) -> None:
    """Kill runs that change from one schema to another and back, the whole tree or an entry."""
    wanted = []
    longest = 0.0
    for number, yaml in enumerate(yamls):
        started = time.monotonic()
        assert generate(yaml, folder / f"wanted{number}").returncode == 0
        longest = max(longest, time.monotonic() - started)
        wanted.append(contents(folder / f"wanted{number}"))
    chance = random.Random(kills)
    out = folder / "out"
    reached = 0
    for count in range(kills):
        which = count % len(yamls)
        if count % 5 == 0:
            shutil.rmtree(out, ignore_errors=True)
        arguments = ("generate", str(yamls[which]), "-o", str(out), "--namespace", "aten")
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        time.sleep(chance.uniform(0, longest * 1.1))
        process.kill()
        started = time.monotonic()
        # Until everybody has closed stdout: the second process, too.
        process.communicate(timeout=PATIENCE_S)
        assert time.monotonic() - started < PATIENCE_S
        reached += process.returncode == -9
        if count % 3 == 0 or count == kills - 1:
            assert_repaired(yamls[which], out, wanted[which])
    record("hunt: kills", kills)
    record("hunt: of these before the end of the run", reached)


def test_kills(tmp_path: Path, record_property: RecordProperty) -> None:
    yamls = []
    for number, text in enumerate((entries(350), entries(340) + "- func: g(int n) -> ()\n")):
        yamls.append(tmp_path / f"{number}.yaml")
        yamls[-1].write_text(text)
    kill_runs(yamls, tmp_path, int(os.environ.get("OPGEN_KILLS", "4")), record_property)


@pytest.mark.nightly
def test_kills_in_runs_of_pytorchs_file(tmp_path: Path, record_property: RecordProperty) -> None:
    text = packaged_native_functions().read_text()
    assert "  CPU: dot\n" in text
    yamls = [tmp_path / "0" / "native_functions.yaml", tmp_path / "1" / "native_functions.yaml"]
    for yaml, one in zip(yamls, (text, text.replace("  CPU: dot\n", "  CPU: dot_other\n"))):
        yaml.parent.mkdir()
        yaml.write_text(one)
        shutil.copy(packaged_native_functions().parent / "tags.yaml", yaml.parent)
    kill_runs(yamls, tmp_path, int(os.environ.get("OPGEN_KILLS", "200")), record_property)


HELD = """
import os, signal, sys, time
from opgen.files import locked
from opgen.forking import beside
from pathlib import Path
with locked(Path(sys.argv[1])), beside(lambda: "x" * 5_000_000) as value:
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is no second process")
def test_a_second_process_does_not_hold_what_a_killed_run_had(tmp_path: Path) -> None:
    """Its value is more than the pipe takes, so it would write for ever."""
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", HELD, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.kill()
        process.communicate(timeout=PATIENCE_S)
        check = "import sys; from opgen.files import locked; from pathlib import Path\n"
        check += "with locked(Path(sys.argv[1]), patience_s=5): print('free')"
        done = subprocess.run(
            [sys.executable, "-c", check, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "free\n", done.stderr


def test_what_a_second_process_left_when_it_died_alone_is_no_part_of_the_tree(
    tmp_path: Path,
) -> None:
    """It is killed while it writes; the first one does its work, and the stamp is of a clean folder."""
    program = """
import os, sys
import opgen.files as files, opgen.writer as writer
from opgen.cli.main import main
parent, real = os.getpid(), os.replace
def dies(*paths):
    if os.getpid() != parent:
        os.kill(os.getpid(), 9)
    real(*paths)
os.replace = dies
writer._MANY = 10
main()
"""
    yaml, out = tmp_path / "a.yaml", tmp_path / "out"
    yaml.write_text(entries(40))
    arguments = ("generate", str(yaml), "-o", str(out), "--namespace", "aten")
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(out.rglob(".opgen-*.tmp"))
    assert ": 0 written, " in generate(yaml, out).stdout


# System calls that fail

CALLS = {
    "openat": ("ENOSPC", "EACCES", "EMFILE", "EIO"),
    "write": ("ENOSPC", "EIO"),
    "rename": ("ENOSPC", "EIO"),
    "unlink": ("EACCES",),
    "mkdir": ("ENOSPC",),
    "flock": ("EWOULDBLOCK", "ENOLCK"),
    "clone,fork,vfork,clone3": ("EAGAIN",),
    "pipe2": ("EMFILE",),
    "getdents64": ("EIO",),
    "newfstatat,fstat,stat,lstat": ("EIO", "EACCES"),
    "read": ("EIO",),
    "wait4": ("EINTR",),
}


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace makes system calls fail")
def test_a_system_call_that_fails(tmp_path: Path, record_property: RecordProperty) -> None:
    """Each kind at so many places, those after Python itself was started: an error, a whole tree after the next run."""
    most = int(os.environ.get("OPGEN_FAILING_CALLS", "6"))
    yaml = tmp_path / "a.yaml"
    yaml.write_text(entries(12))
    assert generate(yaml, tmp_path / "wanted").returncode == 0
    wanted = contents(tmp_path / "wanted")
    arguments = ("generate", str(yaml), "-o", str(tmp_path / "out"), "--namespace", "aten")
    made = failed = 0
    chance = random.Random(most)
    plan = [(call, code) for call, codes in CALLS.items() for code in codes]
    for call, code in plan if most >= len(plan) else chance.sample(plan, most):
        # Those of Python's own start come first, and are not opgen's to answer for.
        log = tmp_path / "log"
        count = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={call}"]
        subprocess.run([*count, *COMMAND, *arguments], capture_output=True, check=False)
        total = len(log.read_text().splitlines())
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        places = sorted(
            {
                max(1, total - chance.randrange(max(1, total // 2)))
                for _ in range(max(1, most // len(plan)))
            }
        )
        for at in places:
            inject = ["-e", f"inject={call}:error={code}:when={at}"]
            command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", *inject]
            done = subprocess.run(
                [*command, *COMMAND, *arguments],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            made += 1
            failed += done.returncode != 0
            assert "Traceback" not in done.stderr, (call, code, at, done.stderr[-1500:])
            assert done.returncode in (0, 1), (call, code, at, done.stderr)
            assert_repaired(yaml, tmp_path / "out", wanted)
            if made % 4 == 0:
                shutil.rmtree(tmp_path / "out", ignore_errors=True)
    record_property("hunt: system calls that failed", made)
    record_property("hunt: of these that ended the run", failed)
