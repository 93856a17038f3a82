"""Files are replaced in one step, keep their permissions, and nothing is written through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.io.files import Locked, create_file, is_temporary, locked, replace_file, rewrite_file


def test_a_file_is_replaced_and_no_other_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a"
    replace_file(path, b"1")
    replace_file(path, b"2")
    assert path.read_bytes() == b"2"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_new_file_has_the_rights_that_the_user_gives_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "a", b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "a").symlink_to(tmp_path / "other")
    replace_file(tmp_path / "a", b"1")
    assert (tmp_path / "other").read_text() == "mine"
    assert not (tmp_path / "a").is_symlink()


def test_a_file_of_the_user_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text("old")
    real.chmod(0o755)
    link = tmp_path / "link"
    link.symlink_to(real)
    rewrite_file(link, b"new")
    assert (real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (b"new", 0o755)
    assert link.is_symlink()


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_a_new_file_never_replaces_another(tmp_path: Path, there: str) -> None:
    path = tmp_path / "a"
    match there:
        case "file":
            path.write_text("mine")
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        create_file(path, b"1")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert not (tmp_path / "nowhere").exists()


def test_a_failure_names_the_file_and_leaves_no_file_behind(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        replace_file(tmp_path / "a", b"1")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "no" / "a", b"1")


def test_one_at_a_time_holds_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(Locked), locked(tmp_path):
        pass
    with locked(tmp_path):
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        (".opgen-0123456789abcdef.tmp", True),
        (".opgen-notes.tmp", False),
        (".opgen-0123456789abcdef.tmp.bak", False),
        ("x.opgen-0123456789abcdef.tmp", False),
    ],
)
def test_only_our_own_temporary_files_are_recognised(name: str, ours: bool) -> None:
    assert is_temporary(name) is ours


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("write", [replace_file, rewrite_file])
def test_a_special_file_is_neither_replaced_nor_written(
    tmp_path: Path, write: Callable[[Path, bytes], object], linked: bool
) -> None:
    """Protects devices, which root can replace, and pipes that another program reads."""
    special = tmp_path / "pipe"
    os.mkfifo(special)
    path = tmp_path / "a" if linked else special
    if linked:
        path.symlink_to(special)
    with pytest.raises(OSError, match="not a regular file"):
        write(path, b"new")
    assert path.is_symlink() == linked and stat.S_ISFIFO(path.stat().st_mode)
    assert len(list(tmp_path.iterdir())) == 1 + linked
