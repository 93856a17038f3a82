"""Nothing is lost when the writer is killed, runs out of space, lacks permissions, or runs in parallel.

The counts are those of tests/RESULTS.md: few by default, hundreds with `-m nightly`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opgen.cli.check import compare
from opgen.diagnostics import Diagnostics
from opgen.io.files import is_temporary
from opgen.io.manifest import DIGESTS, MANIFEST, read_manifest
from opgen.io.writer import Tree, write
from support.writing import tree

RecordProperty = Callable[[str, object], None]
VERSIONS = range(5)
TREES = [tree(version) for version in VERSIONS]
SCRIPT = Path(__file__).parents[1] / "support" / "writing.py"
NOBODY = 65534
FOREIGN = {"mine.txt": "mine", "src/mine.cpp": "mine, too", ".opgen-notes.tmp": "no name of ours"}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that contains a user's files."""
    folder = tmp_path / "out"
    for name, text in FOREIGN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start a writing process that waits for its first line."""
    command = [sys.executable, str(SCRIPT), *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def codes(process: subprocess.Popen[str]) -> list[str]:
    """Let a process that waits continue; when it is done, return its codes for each version."""
    said, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    return said.splitlines()


def files(folder: Path) -> dict[str, str]:
    """Return every file except those that are not committed, and the `.gitignore` for these."""
    found = (path for path in folder.rglob("*") if path.is_file())
    skipped = (DIGESTS, ".gitignore")
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in found
        if path.name not in skipped
    }


def assert_intact(folder: Path) -> None:
    """Check that every file is a user's and unchanged, a whole file of some version, or a temporary one or in a
    temporary folder.
    """
    found = files(folder)
    assert {name: found.pop(name) for name in FOREIGN} == FOREIGN
    found.pop(MANIFEST, None)
    for path, text in found.items():
        if not any(map(is_temporary, path.split("/"))):
            assert text in {one.files[path] for one in TREES if path in one.files}, path


def is_complete(tree: Tree, folder: Path) -> bool:
    """Return whether `folder` has the files of a tree, as `opgen check` compares them."""
    manifest = read_manifest(folder, Diagnostics())
    return manifest is not None and not list(compare(tree, folder, manifest))


def assert_repaired(folder: Path, version: int) -> None:
    """Check that one run repairs the folder: it has the tree of a version, and no other files."""
    diagnostics = Diagnostics()
    write(TREES[version], folder, diagnostics)
    assert [str(item) for item in diagnostics] == []
    assert is_complete(TREES[version], folder)
    assert set(files(folder)) == {*TREES[version].files, *FOREIGN, MANIFEST}


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(15, id="15"),
        pytest.param(60, id="60", marks=pytest.mark.slow),
        pytest.param(300, id="300", marks=pytest.mark.nightly),
    ],
)
def test_a_killed_run_leaves_every_file_old_or_new(
    out: Path, kills: int, record_property: RecordProperty
) -> None:
    """kill -9 at a random moment of a process that writes one version after the other."""
    chance = random.Random(kills)
    torn = 0
    for count in range(kills):
        order = chance.sample(VERSIONS, k=3)
        process = start("--forever", str(out), *map(str, order))
        release(process)
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        said, complaints = process.communicate(timeout=60)
        assert process.returncode == -9 and not said.replace("\n", ""), said + complaints
        assert_intact(out)
        manifest = out / MANIFEST
        torn += manifest.exists() and '"pending"' in manifest.read_text()
        if count % 3 == 0:
            assert_repaired(out, chance.choice(VERSIONS))
    record_property("nothing lost: kills", kills)
    record_property("nothing lost: of these in the middle of a run", torn)
    assert torn


@pytest.mark.slow
@pytest.mark.parametrize(
    "runs",
    [pytest.param(8, id="8"), pytest.param(60, id="60", marks=pytest.mark.nightly)],
)
def test_runs_at_once_do_not_mix_their_files(
    out: Path, runs: int, record_property: RecordProperty
) -> None:
    """All processes wait for each other and then write different versions; the lock lets one at a time write."""
    processes = [start(str(out), *map(str, (n % 5, (n + 2) % 5))) for n in range(runs)]
    for process in processes:
        release(process)
    said = [line for process in processes for line in codes(process)]
    assert set(said) <= {"", "E0903"}
    assert "" in said
    assert any(is_complete(one, out) for one in TREES)
    refused = said.count("E0903")
    record_property("nothing lost: runs at once", 2 * runs)
    record_property("nothing lost: of these refused", refused)
    assert_intact(out)
    assert_repaired(out, 0)


def test_the_lock_ends_with_the_process(out: Path) -> None:
    process = start("--forever", str(out), "0", "1")
    release(process)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    assert_repaired(out, 2)


# A full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with 200 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=200k", "tmpfs"]
    if subprocess.run(["mount", *options, folder], capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_an_error_and_the_tree_stays_whole(small_disk: Path) -> None:
    """Files written before the disk is full are whole; when there is space again, the rest is written."""
    out = small_disk / "out"
    for name, text in FOREIGN.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    filler = small_disk / "filler"
    full = 0
    for version, size in ((0, 60_000), (1, 100_000), (2, 150_000), (3, 180_000), (4, 0)):
        diagnostics = Diagnostics()
        with filler.open("wb") as file:
            try:
                file.write(bytes(size))
                file.flush()
            except OSError:
                pass
        write(TREES[version], out, diagnostics)
        full += [item.code for item in diagnostics] == ["E0904"]
        assert all("No space left" in item.message for item in diagnostics)
        assert not [name for name in files(out) if any(map(is_temporary, name.split("/")))]
        assert_intact(out)
        filler.unlink()
    assert full >= 2
    subprocess.run(["mount", "-o", "remount,size=2m", small_disk], check=True)
    assert_repaired(out, 3)


# Permissions, as a user other than root


def as_nobody(folder: Path, version: int) -> str:
    """Return what a process without root's rights reports when it writes a version."""
    process = start("--as", str(NOBODY), str(folder), str(version))
    release(process)
    return codes(process)[0]


def open_up(folder: Path) -> None:
    """Let everybody enter the folder and write to it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    for parent in folder.parents[:5]:
        if parent.stat().st_uid == os.getuid() and parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o711)


@pytest.mark.parametrize("what", ["top", "below", "manifest", "file", "unreadable"])
def test_missing_rights_are_an_error_and_the_tree_stays_whole(out: Path, what: str) -> None:
    assert_repaired(out, 0)
    open_up(out)
    barred, code = {
        "top": (out, "E0904"),
        "below": (out / "src", "E0904"),
        # The rename needs only write permission for the folder, so it also replaces a read-only
        # file.
        "file": (out / next(iter(TREES[0].files)), ""),
        "manifest": (out / MANIFEST, "E0902"),
        "unreadable": (out / "src", "E0904"),
    }[what]
    mode = barred.stat().st_mode
    barred.chmod({"manifest": 0o000, "unreadable": 0o000, "file": 0o444}.get(what, 0o555))
    assert as_nobody(out, 1) == code
    barred.chmod(mode)
    assert_intact(out)
    assert_repaired(out, 2)


def test_a_folder_that_cannot_be_created_is_an_error(out: Path) -> None:
    open_up(out)
    out.chmod(0o555)
    assert as_nobody(out / "new" / "deeper", 1) == "E0904"
    out.chmod(0o777)
    assert not (out / "new").exists()


# Interference by other processes


def test_a_folder_that_vanishes_during_a_run_is_an_error_or_created_again(out: Path) -> None:
    """The process ends with an error, or makes the folder again; the next run writes everything."""
    process = start("--forever", str(out), "0", "1", "2")
    release(process)
    chance = random.Random(1)
    for _ in range(30):
        time.sleep(chance.uniform(0, 0.02))
        for name in ("include", "deep1"):
            subprocess.run(["rm", "-rf", out / name], check=False)
    process.kill()
    said, complaints = process.communicate(timeout=60)
    assert process.returncode == -9, complaints
    assert set(said.split()) <= {"E0904"}
    assert_repaired(out, 4)
