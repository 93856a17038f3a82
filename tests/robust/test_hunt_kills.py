"""Kills and failing system calls in real runs of `opgen generate`: the next run succeeds.

A process is killed (`kill -9`) at a random moment, or its n-th system call fails. Afterwards nobody holds the lock,
the next run succeeds, and its tree equals that of an undisturbed run. The counts are small here; OPGEN_KILLS and
OPGEN_FAILING_CALLS change them, and the nightly tests use PyTorch's file.
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

from opgen.io.files import is_temporary
from support.pytorch import packaged_native_functions

if sys.platform != "linux":
    pytest.skip("these tests need Linux's processes and system calls", allow_module_level=True)

RecordProperty = Callable[[str, object], None]
COMMAND = (sys.executable, "-c", "from opgen.cli.main import main; main()")
PATIENCE_S = 10.0


def entries(count: int) -> str:
    """Return schema text with `count` operators."""
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
        if path.name not in (".opgen_stamp", ".opgen_stamp_digests")
    }


def repair(yaml: Path, out: Path) -> None:
    """Run once after the disturbance; the run must not wait long."""
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
    assert not [path for path in found if any(map(is_temporary, path.split("/")))]
    assert found == wanted


def kill_runs(yamls: list[Path], folder: Path, kills: int, record: RecordProperty) -> None:
    """Kill runs at random moments. The runs read `yamls` in turn, and mostly write to the same folder."""
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
        # Waits until stdout is closed, thus also for any process that the run left behind.
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


# System calls that fail

CALLS = {
    "openat": ("ENOSPC", "EACCES", "EMFILE", "EIO"),
    "write": ("ENOSPC", "EIO"),
    "rename": ("ENOSPC", "EIO"),
    "unlink": ("EACCES",),
    "mkdir": ("ENOSPC",),
    "flock": ("EWOULDBLOCK", "ENOLCK"),
    "getdents64": ("EIO",),
    "newfstatat,fstat,stat,lstat": ("EIO", "EACCES"),
    "read": ("EIO",),
}


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="this test needs strace, which makes system calls fail"
)
@pytest.mark.slow
def test_a_system_call_that_fails(tmp_path: Path, record_property: RecordProperty) -> None:
    """Let calls of each kind fail at several places after Python's own start: the run reports an error, and the next
    run writes a whole tree.
    """
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
        # The first ones belong to Python's own start; opgen is not responsible for them.
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
