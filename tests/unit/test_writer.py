"""The writer writes only changed files, removes only files of opgen, and loses none of a user's."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from opgen.cli.check import compare
from opgen.diagnostics import Diagnostics
from opgen.io import writer
from opgen.io.files import FileState
from opgen.io.manifest import (
    DIGESTS,
    MANIFEST,
    digest,
    is_safe_path,
    read_manifest,
    write_digests,
)
from opgen.io.writer import FoundFiles, Tree, list_folders, write


def tree(**files: str) -> Tree:
    return Tree({name.replace("__", "/"): text for name, text in files.items()}, {"name": "lib"})


def written(directory: Path, tree: Tree) -> tuple[str, ...]:
    diagnostics = Diagnostics()
    report = write(tree, directory, diagnostics)
    assert not diagnostics.has_errors
    return report.written


def codes(diagnostics: Diagnostics) -> list[str]:
    return [d.code for d in diagnostics.sorted()]


def test_a_second_run_touches_nothing(tmp_path: Path) -> None:
    files = tree(a="1\n", src__b="2\n")
    assert written(tmp_path, files) == ("a", "src/b")
    stamps = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}
    assert written(tmp_path, files) == ()
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()} == stamps


def test_only_the_changed_file_is_written(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n", b="2\n"))
    assert written(tmp_path, tree(a="1\n", b="3\n")) == ("b",)
    assert (tmp_path / "b").read_text() == "3\n"


def test_a_file_no_longer_generated_is_removed_with_its_empty_folder(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n", src__deep__b="2\n"))
    report = write(tree(a="1\n"), tmp_path, Diagnostics())
    assert report.removed == ("src/deep/b",)
    assert not (tmp_path / "src").exists()


def test_a_file_no_longer_generated_but_edited_by_hand_is_kept(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n", b="2\n"))
    (tmp_path / "b").write_text("mine\n")
    report = write(tree(a="1\n"), tmp_path, Diagnostics())
    assert report.edited == ("b",)
    assert (tmp_path / "b").read_text() == "mine\n"


def test_a_foreign_file_is_never_overwritten_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine\n")
    diagnostics = Diagnostics()
    write(tree(a="1\n", b="2\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0901"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b"]
    assert (tmp_path / "b").read_text() == "mine\n"


def test_a_foreign_file_with_the_right_bytes_is_adopted(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("2\n")
    assert written(tmp_path, tree(b="2\n")) == ()
    assert json.loads((tmp_path / MANIFEST).read_text())["files"] == ["b"]


@pytest.mark.parametrize("blocker", ["folder", "file"])
def test_a_folder_in_place_of_a_file_is_reported(tmp_path: Path, blocker: str) -> None:
    if blocker == "folder":
        (tmp_path / "src" / "b").mkdir(parents=True)
    else:
        (tmp_path / "src").write_text("mine\n")
    diagnostics = Diagnostics()
    write(tree(src__b="2\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0901"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 99, "files": {}}', '{"format": 2, "files": ["../x"]}']
)
def test_a_manifest_that_is_not_ours_stops_the_run(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    diagnostics = Diagnostics()
    write(tree(a="1\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0902"]
    assert not (tmp_path / "a").exists()


def test_after_an_interruption_opgen_knows_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, tree(a="1\n", b="2\n"))
    import opgen.io.writer as writer  # noqa: PLC0415

    real = writer.replace_file

    def fail_at_c(path: Path | str, content: bytes) -> FileState:
        if Path(path).name == "c":
            raise KeyboardInterrupt
        return real(path, content)

    monkeypatch.setattr(writer, "replace_file", fail_at_c)
    with pytest.raises(KeyboardInterrupt):
        write(tree(b="new\n", c="3\n"), tmp_path, Diagnostics())
    monkeypatch.undo()
    written(tmp_path, tree(b="newer\n", c="3\n"))
    assert sorted(p.name for p in tmp_path.iterdir()) == [".gitignore", DIGESTS, "b", "c", MANIFEST]


@pytest.mark.parametrize("writes", range(1, 5))
def test_two_killed_runs_in_a_row_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """The first run wrote `x`; the second, which does not, is killed after each of its writes in turn."""
    import opgen.io.manifest as digests  # noqa: PLC0415
    import opgen.io.writer as writer  # noqa: PLC0415

    real, left = writer.replace_file, 0

    def replace_some(path: Path | str, content: bytes) -> FileState:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return real(path, content)

    written(tmp_path, tree(a="1\n", b="2\n"))
    monkeypatch.setattr(writer, "replace_file", replace_some)
    monkeypatch.setattr(digests, "replace_file", replace_some)
    for count, files in ((2, tree(x="3\n", z="4\n")), (writes, tree(a="5\n", b="6\n"))):
        left = count
        with pytest.raises(KeyboardInterrupt):
            write(files, tmp_path, Diagnostics())
    assert writes > 1 or (tmp_path / "x").read_text() == "3\n"
    monkeypatch.undo()
    report = write(tree(c="7\n"), tmp_path, Diagnostics())
    assert not report.edited and not report.unknown
    assert sorted(p.name for p in tmp_path.iterdir()) == [".gitignore", DIGESTS, "c", MANIFEST]


def compared(tmp_path: Path, **files: str) -> list[str]:
    manifest = read_manifest(tmp_path, Diagnostics())
    assert manifest is not None
    return list(compare(tree(**files), tmp_path, manifest))


def test_compare_names_stale_missing_and_left_over(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n", b="2\n", c="3\n"))
    (tmp_path / "b").unlink()
    stale, missing, left_over, manifest = compared(tmp_path, a="one\n", b="2\n")
    assert stale.startswith("--- a (on disk)") and "-1\n+one\n" in stale
    assert (missing, left_over) == ("missing: b\n", "left over: c\n")
    assert manifest.startswith(f"--- {MANIFEST} (on disk)")


def test_compare_of_an_up_to_date_tree_is_empty(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n"))
    assert compared(tmp_path, a="1\n") == []


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a/b.h", True),
        ("../a", False),
        ("/a", False),
        ("a//b", False),
        ("a/./b", False),
        (".", False),
        ("a\\b", False),
    ],
)
def test_only_paths_inside_the_directory_are_safe(path: str, safe: bool) -> None:
    assert is_safe_path(path) is safe


def test_a_temporary_file_of_a_killed_run_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / "src" / ".opgen-0123456789abcdef.tmp"
    left.parent.mkdir()
    left.write_text("half")
    mine = tmp_path / "src" / ".opgen-mine.tmp"
    mine.write_text("mine")
    written(tmp_path, tree(src__a="1\n"))
    assert (left.exists(), mine.exists()) == (False, True)


def test_a_temporary_folder_of_a_killed_run_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".opgen-0123456789abcdef.tmp"
    (left / "deep").mkdir(parents=True)
    (left / "deep" / "a").write_text("half")
    mine = tmp_path / ".opgen-mine.tmp"
    mine.mkdir()
    written(tmp_path, tree(src__deep__a="1\n"))
    assert (left.exists(), mine.exists()) == (False, True)
    assert (tmp_path / "src" / "deep" / "a").read_text() == "1\n"


def test_a_new_folder_appears_with_all_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody reads half of it: it gets its name last, by one rename."""
    renamed = []

    def rename(old: str, new: str) -> None:
        renamed.append((Path(new).relative_to(tmp_path).as_posix(), files_in(Path(old))))
        os.replace(old, new)

    monkeypatch.setattr(os, "rename", rename)
    (tmp_path / "old").mkdir()
    paths = ("a", "old/b", "new/c", "new/deep/d", "old/new/e")
    report = write(Tree(dict.fromkeys(paths, "1\n"), {"name": "lib"}), tmp_path, Diagnostics())
    assert renamed == [("new", ["c", "deep/d"]), ("old/new", ["e"])]
    assert set(report.written) == set(paths)
    for path in paths:
        found = os.stat(tmp_path / path)
        assert report.states[path] == (found.st_size, found.st_mtime_ns, found.st_ino)


def files_in(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def test_a_new_folder_that_cannot_be_filled_does_not_appear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_some(handle: int, content: bytes) -> int:
        if content == b"2\n":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, content)

    real = os.write
    monkeypatch.setattr(os, "write", write_some)
    diagnostics = Diagnostics()
    write(tree(src__a="1\n", src__b="2\n"), tmp_path, diagnostics)
    (found,) = diagnostics.sorted()
    assert found.code == "E0904"
    assert str(tmp_path / "src") in found.message and ".opgen-" not in found.message
    assert files_in(tmp_path) == [MANIFEST]
    monkeypatch.undo()
    assert written(tmp_path, tree(src__a="1\n", src__b="2\n")) == ("src/a", "src/b")


def test_a_folder_created_in_the_meantime_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def list_none(directory: Path, paths: object) -> FoundFiles:
        found = list_folders(directory, ())
        (tmp_path / "src").mkdir()
        return found

    monkeypatch.setattr(writer, "list_folders", list_none)
    assert written(tmp_path, tree(src__deep__a="1\n")) == ("src/deep/a",)
    assert (tmp_path / "src" / "deep" / "a").read_text() == "1\n"


@pytest.mark.parametrize("place", ["src", "src/b", MANIFEST])
def test_nothing_is_written_through_a_link(tmp_path: Path, place: str) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    (outside / "b").write_text("mine\n")
    (out / place).parent.mkdir(parents=True)
    (out / place).symlink_to(outside if place == "src" else outside / "b")
    diagnostics = Diagnostics()
    write(tree(src__b="2\n"), out, diagnostics)
    assert set(codes(diagnostics)) <= {"E0901", "E0902"} and diagnostics.has_errors
    assert (outside / "b").read_text() == "mine\n"
    assert [p.name for p in outside.iterdir()] == ["b"]


def test_nothing_is_removed_through_a_link(tmp_path: Path) -> None:
    """A folder that a user moved away and linked to belongs to the user."""
    out, moved = tmp_path / "out", tmp_path / "moved"
    written(out, tree(a="1\n", src__b="2\n"))
    (out / "src").rename(moved)
    (out / "src").symlink_to(moved)
    assert write(tree(a="1\n"), out, Diagnostics()).removed == ()
    assert (moved / "b").read_text() == "2\n"


def pending(directory: Path, files: dict[str, str], begun: dict[str, str]) -> None:
    """Return the manifest of a run that was killed after it began to write `begun`."""
    digests = [
        {path: digest(text.encode()) for path, text in texts.items()} for texts in (files, begun)
    ]
    value = {"format": 2, "files": sorted(files), "pending": digests[1]}
    (directory / MANIFEST).write_text(json.dumps(value))
    write_digests(directory, digests[0])


def test_only_files_written_by_a_killed_run_are_ours(tmp_path: Path) -> None:
    """`new` was written, `planned` was not: a user has put another file there since."""
    (tmp_path / "new").write_text("1\n")
    (tmp_path / "planned").write_text("mine\n")
    pending(tmp_path, {}, {"new": "1\n", "planned": "2\n"})
    diagnostics = Diagnostics()
    write(tree(planned="3\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0901"]
    report = write(tree(other="3\n"), tmp_path, Diagnostics())
    assert (report.removed, report.edited, report.unknown) == (("new",), (), ())
    assert (tmp_path / "planned").read_text() == "mine\n"


@pytest.mark.parametrize("reached", ["old\n", "new\n"])
def test_a_file_of_a_killed_run_is_removed_whether_it_is_old_or_new(
    tmp_path: Path, reached: str
) -> None:
    (tmp_path / "a").write_text(reached)
    pending(tmp_path, {"a": "old\n"}, {"a": "new\n"})
    assert write(tree(b="1\n"), tmp_path, Diagnostics()).removed == ("a",)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": 2, "files": [], "pending": []}',
        '{"format": 2, "files": [], "pending": {"/etc/passwd": "0"}}',
        '{"format": 2, "files": ["opgen_manifest.json"]}',
        '{"format": 2, "files": [], "pending": {"a": 0}}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_hostile_manifest_stops_the_run(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_bytes(text.encode(errors="surrogateescape"))
    diagnostics = Diagnostics()
    write(tree(a="1\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0902"]
    assert not (tmp_path / "a").exists()


def test_a_manifest_that_claims_a_users_file_does_not_remove_it(tmp_path: Path) -> None:
    """The manifest was edited by hand, and has no digest for the file."""
    (tmp_path / "mine").write_text("mine\n")
    written(tmp_path, tree(a="1\n"))
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    manifest["files"].append("mine")
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    assert write(tree(b="1\n"), tmp_path, Diagnostics()).unknown == ("mine",)
    assert (tmp_path / "mine").read_text() == "mine\n"


def test_too_many_problems_end_in_the_last_one(tmp_path: Path) -> None:
    files = {f"f{i}": "2\n" for i in range(1_200)}
    for path in files:
        (tmp_path / path).write_text("mine\n")
    diagnostics = Diagnostics()
    assert write(Tree(files, {}), tmp_path, diagnostics).written == ()
    assert codes(diagnostics) == ["E0901"] * 1_000 + ["E0911"]
