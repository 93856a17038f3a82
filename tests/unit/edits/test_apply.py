"""Edits of a text: applied in order, never overlapping; and the difference as a patch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.cli.lint import unified_diff
from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.edits import apply_edits, encode_like, fix_all

TEXT = "0123456789"


def edit(start: int, end: int, replacement: str) -> Edit:
    return Edit(Span(Source("f", TEXT), start, end), replacement)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], (TEXT, 0)),
        ([edit(2, 4, "x")], ("01x456789", 1)),
        ([edit(8, 9, "y"), edit(2, 4, "x")], ("01x4567y9", 2)),
        # Adjacent edits do not overlap.
        ([edit(2, 4, "x"), edit(4, 5, "y")], ("01xy56789", 2)),
        ([edit(2, 5, "x"), edit(4, 6, "y")], ("01x56789", 1)),
        ([edit(2, 4, "x"), edit(2, 4, "x")], ("01x456789", 1)),
        ([edit(3, 3, "x"), edit(3, 3, "y")], ("012x3456789", 1)),
        ([edit(3, 3, "x"), edit(3, 5, "y")], ("012xy56789", 2)),
        ([edit(0, 0, "x"), edit(10, 10, "y")], (f"x{TEXT}y", 2)),
    ],
)
def test_apply_edits(edits: list[Edit], expected: tuple[str, int]) -> None:
    assert apply_edits(TEXT, edits) == expected
    assert apply_edits(TEXT, reversed(edits)) in (expected, apply_edits(TEXT, edits))


def test_a_byte_order_mark_stays() -> None:
    assert encode_like("é", b"\xef\xbb\xbfx") == b"\xef\xbb\xbf\xc3\xa9"
    assert encode_like("é", b"x") == b"\xc3\xa9"


LINES = st.lists(st.sampled_from(["a", "b", "é", "", " "]), max_size=8)


@given(LINES, LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_the_difference_is_a_valid_patch(
    tmp_path_factory: pytest.TempPathFactory,
    old: list[str],
    new: list[str],
    newline: str,
    ends: bool,
    ended: bool,
) -> None:
    before = newline.join(old) + newline * ended
    after = newline.join(new) + newline * ends
    difference = unified_diff("f.txt", "f.txt", before, after)
    assert (difference == "") == (before == after)
    if not difference or not before or not after:
        # A new or deleted file has another header.
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f.txt").write_bytes(before.encode())
    command = ["git", "apply", "--unsafe-paths", "--whitespace=nowarn", "-p0", "-"]
    subprocess.run(command, cwd=folder, input=difference.encode(), check=True)
    assert (folder / "f.txt").read_bytes() == after.encode()


def test_fixes_that_undo_each_other_end() -> None:
    path = Path("f")

    def check(contents: dict[Path, bytes]) -> tuple[Diagnostics, None]:
        text = contents[path].decode()
        found = Diagnostics()
        span = Span(Source("f", text), 0, 1)
        fix = Edit(span, "b" if text == "a" else "a")
        found.error("E0302", "m", span, fix=fix)
        return found, None

    fixed = fix_all({path: b"a"}, check)  # type: ignore[arg-type]
    assert (fixed.count, fixed.contents) == (1, {path: b"b"})


def test_files_that_are_not_utf_8_are_left_alone() -> None:
    path = Path("f")

    def check(contents: object) -> tuple[Diagnostics, None]:
        found = Diagnostics()
        span = Span(Source("f", "\ufffda"), 1, 2)
        found.error("E0302", "m", span, fix=Edit(span, "b"))
        return found, None

    assert fix_all({path: b"\xffa"}, check).contents == {}
