"""The writer touches only what changed, removes only what opgen wrote, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.files import FileState
from opgen.manifest import MANIFEST, digest, is_safe_path
from opgen.stale import compare
from opgen.writer import Tree, write


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


def test_a_file_no_longer_made_is_removed_with_its_empty_folder(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n", src__deep__b="2\n"))
    report = write(tree(a="1\n"), tmp_path, Diagnostics())
    assert report.removed == ("src/deep/b",)
    assert not (tmp_path / "src").exists()


def test_a_file_no_longer_made_but_edited_by_hand_is_kept(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n", b="2\n"))
    (tmp_path / "b").write_text("mine\n")
    report = write(tree(a="1\n"), tmp_path, Diagnostics())
    assert report.kept == ("b",)
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
    assert json.loads((tmp_path / MANIFEST).read_text())["files"].keys() == {"b"}


@pytest.mark.parametrize("blocker", ["folder", "file"])
def test_a_path_taken_by_the_wrong_kind_of_thing_is_reported(tmp_path: Path, blocker: str) -> None:
    if blocker == "folder":
        (tmp_path / "src" / "b").mkdir(parents=True)
    else:
        (tmp_path / "src").write_text("mine\n")
    diagnostics = Diagnostics()
    write(tree(src__b="2\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0901"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 99, "files": {}}', '{"format": 1, "files": {"../x": "0"}}']
)
def test_a_manifest_that_is_not_ours_stops_the_run(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    diagnostics = Diagnostics()
    write(tree(a="1\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0902"]
    assert not (tmp_path / "a").exists()


def test_after_an_interruption_no_file_is_taken_for_foreign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, tree(a="1\n", b="2\n"))
    import opgen.writer as writer  # noqa: PLC0415

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
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "c", MANIFEST]


def test_compare_names_stale_missing_and_left_over(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n", b="2\n", c="3\n"))
    (tmp_path / "b").unlink()
    found = compare(tree(a="one\n", b="2\n"), tmp_path, Diagnostics())
    assert {s.path: s.kind for s in found} == {
        "a": "stale",
        "b": "missing",
        "c": "left over",
        MANIFEST: "stale",
    }
    assert "-1\n+one\n" in next(s.diff for s in found if s.path == "a")


def test_compare_of_an_up_to_date_tree_is_empty(tmp_path: Path) -> None:
    written(tmp_path, tree(a="1\n"))
    assert compare(tree(a="1\n"), tmp_path, Diagnostics()) == ()


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
    """A folder of ours that somebody moved away and linked to is somebody's."""
    out, moved = tmp_path / "out", tmp_path / "moved"
    written(out, tree(a="1\n", src__b="2\n"))
    (out / "src").rename(moved)
    (out / "src").symlink_to(moved)
    assert write(tree(a="1\n"), out, Diagnostics()).removed == ()
    assert (moved / "b").read_text() == "2\n"


def pending(directory: Path, files: dict[str, str], begun: dict[str, str]) -> None:
    """The manifest of a run that was killed after it began to write `begun`."""
    digests = [
        {path: digest(text.encode()) for path, text in texts.items()} for texts in (files, begun)
    ]
    value = {"format": 1, "files": digests[0], "pending": digests[1]}
    (directory / MANIFEST).write_text(json.dumps(value))


def test_what_a_killed_run_got_to_is_ours_and_what_it_did_not_is_not(tmp_path: Path) -> None:
    """`new` was written, `planned` was not: somebody put a file of his own there since."""
    (tmp_path / "new").write_text("1\n")
    (tmp_path / "planned").write_text("mine\n")
    pending(tmp_path, {}, {"new": "1\n", "planned": "2\n"})
    diagnostics = Diagnostics()
    write(tree(planned="3\n"), tmp_path, diagnostics)
    assert codes(diagnostics) == ["E0901"]
    report = write(tree(other="3\n"), tmp_path, Diagnostics())
    assert (report.removed, report.kept) == (("new",), ())
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
        '{"format": 1, "files": {}, "pending": []}',
        '{"format": 1, "files": {}, "pending": {"/etc/passwd": "0"}}',
        '{"format": 1, "files": {"opgen_manifest.json": "0"}}',
        '{"format": 1, "files": {"a": 0}}',
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


def test_a_manifest_that_claims_a_file_of_somebody_does_not_remove_it(tmp_path: Path) -> None:
    """Edited by hand: the bytes are not those of its digest."""
    (tmp_path / "mine").write_text("mine\n")
    written(tmp_path, tree(a="1\n"))
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    manifest["files"]["mine"] = "0" * 32
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    assert write(tree(b="1\n"), tmp_path, Diagnostics()).kept == ("mine",)
    assert (tmp_path / "mine").read_text() == "mine\n"


def test_too_many_problems_end_in_the_last_one(tmp_path: Path) -> None:
    files = {f"f{i}": "2\n" for i in range(1_200)}
    for path in files:
        (tmp_path / path).write_text("mine\n")
    diagnostics = Diagnostics()
    assert write(Tree(files, {}), tmp_path, diagnostics).written == ()
    assert codes(diagnostics) == ["E0901"] * 1_000 + ["E0911"]
