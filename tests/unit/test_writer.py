"""The writer touches only what changed, removes only what opgen wrote, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.manifest import MANIFEST, is_safe_path
from opgen.writer import Tree, compare, write


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

    def fail_at_c(path: Path, content: bytes) -> None:
        if path.name == "c":
            raise KeyboardInterrupt
        real(path, content)

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
