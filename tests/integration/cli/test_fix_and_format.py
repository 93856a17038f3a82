"""`opgen lint --fix`, `--diff` and `opgen format`: what they change in files, and what they never change."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from cli_support import Opgen

MISTAKES = """\
# The license.

# add, with a comment
- func: add(Tensr self,  Tensor other) -> Tensor  # beside it
  vairants: function, method

  dispatch:
    CPO: add_cpu    # é表\U0001d54f
    CUDA:   add_cuda

- func: neg(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: neg
- func: rand_x(int n) -> int
"""
FIXED = """\
# The license.

# add, with a comment
- func: add(Tensor self, Tensor other) -> Tensor  # beside it
  variants: function, method

  dispatch:
    CPU: add_cpu    # é表\U0001d54f
    CUDA:   add_cuda

- func: neg(Tensor self) -> Tensor
- func: rand_x(int n) -> int
  tags: nondeterministic_seeded
"""
HOPELESS = "- func: foo(Tensor self, int lambda) -> Tensor\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_fix(opgen: Opgen, newline: str, mark: bytes) -> None:
    """Every byte outside of a fix is kept: the byte order mark, line ends, comments, and the mode of the file."""
    path = Path("f.yaml")
    path.write_bytes(mark + MISTAKES.replace("\n", newline).encode())
    path.chmod(0o640)
    result = opgen("lint", "--fix", "f.yaml")
    assert result.exit_code == 0, result.stderr
    assert "6 problems fixed" in result.stderr
    assert path.read_bytes() == mark + FIXED.replace("\n", newline).encode()
    assert path.stat().st_mode & 0o777 == 0o640
    again = opgen("lint", "--fix", "f.yaml")
    assert "0 problems fixed" in again.stderr and again.exit_code == 0


def test_remaining_problems_are_reported_at_their_new_positions(opgen: Opgen) -> None:
    Path("f.yaml").write_text(f"{MISTAKES}\n{HOPELESS}")
    result = opgen("lint", "--fix", "f.yaml", "--format", "json")
    assert result.exit_code == 1
    (problem,) = map(json.loads, result.stdout.splitlines())
    assert problem["code"] == "E0404"
    text = Path("f.yaml").read_text()
    assert text == f"{FIXED}\n{HOPELESS}"
    assert text[problem["span"]["start"] : problem["span"]["end"]] == "lambda"


def test_fixes_that_lead_to_others(opgen: Opgen) -> None:
    """The value is checked only when its key is valid, and the group only after that."""
    Path("f.yaml").write_text(
        "- func: foo(Tensor self) -> Tensor\n\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structred: True\n  dispatch:\n    CPO: foo_out\n"
    )
    assert opgen("lint", "--fix", "f.yaml").exit_code == 0
    assert Path("f.yaml").read_text() == (
        "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: foo_out\n"
    )


def test_diff_writes_nothing(opgen: Opgen) -> None:
    path = Path("f.yaml")
    path.write_bytes(MISTAKES.encode())
    result = opgen("lint", "--diff", "f.yaml")
    assert result.exit_code == 1
    assert path.read_bytes() == MISTAKES.encode()
    assert "error[E0307]" in result.stderr
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "-p0", "-"], input=result.stdout.encode(), check=True
    )
    assert path.read_bytes() == FIXED.encode()
    result = opgen("lint", "--diff", "f.yaml")
    assert (result.exit_code, result.stdout) == (0, "")


def test_several_files(opgen: Opgen) -> None:
    """Each file gets its own fixes; files without any are not touched, and a link is followed."""
    Path("real").mkdir()
    Path("real/f.yaml").write_text(MISTAKES)
    Path("f.yaml").symlink_to("real/f.yaml")
    before = Path("good.yaml").stat().st_mtime_ns
    Path("other.yaml").write_text("- func: sub(Tensr self) -> Tensor\n")
    assert opgen("lint", "--fix", "f.yaml", "other.yaml").exit_code == 0
    assert Path("f.yaml").is_symlink() and Path("real/f.yaml").read_text() == FIXED
    assert Path("other.yaml").read_text() == "- func: sub(Tensor self) -> Tensor\n"
    assert opgen("lint", "--fix", "good.yaml").exit_code == 0
    assert Path("good.yaml").stat().st_mtime_ns == before
    assert sorted(os.listdir()) == ["bad.yaml", "f.yaml", "good.yaml", "other.yaml", "real"]


def test_the_tags_file_next_to_it_is_read(opgen: Opgen) -> None:
    Path("tags.yaml").write_text("- tag: mine_alone\n  desc: One.\n")
    Path("f.yaml").write_text("- func: foo(Tensor self) -> Tensor\n  tags: [mine_alnoe]\n")
    assert opgen("lint", "--fix", "f.yaml").exit_code == 0
    assert "tags: [mine_alone]" in Path("f.yaml").read_text()


@pytest.mark.parametrize("command", [("lint", "--fix"), ("format",)], ids=lambda c: c[0])
@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_cannot_be_written(opgen: Opgen, command: tuple[str, ...]) -> None:
    folder = Path("closed")
    folder.mkdir()
    (folder / "f.yaml").write_text("- tags: core\n  func: foo(Tensor  self) -> Tensor\n")
    folder.chmod(0o555)
    try:
        result = opgen(*command, "closed/f.yaml")
    finally:
        folder.chmod(0o755)
    assert result.exit_code == 1 and "error[E0904]" in result.stderr
    assert "Tensor  self" in (folder / "f.yaml").read_text()


def test_a_pipe_as_file(opgen: Opgen) -> None:
    """Input from a pipe cannot be fixed in place."""
    os.mkfifo("pipe.yaml")
    with subprocess.Popen(["sh", "-c", "printf -- '- func: foo(Tensr a) -> Tensor' > pipe.yaml"]):
        result = opgen("lint", "--fix", "pipe.yaml")
    assert result.exit_code == 1 and "error[E0904]" in result.stderr


UNORDERED = "- tags: core\n  # why\n  func: foo(Tensor  self) -> Tensor\n"
ORDERED = "  # why\n- func: foo(Tensor self) -> Tensor\n  tags: core\n"


def test_format(opgen: Opgen) -> None:
    path = Path("f.yaml")
    path.write_text(UNORDERED)
    for option in ("--check", "--diff"):
        result = opgen("format", option, "f.yaml")
        assert result.exit_code == 1 and path.read_text() == UNORDERED
        assert ("-- tags: core" in result.stdout) == (option == "--diff")
    result = opgen("format", "f.yaml")
    assert result.exit_code == 0 and "formatted f.yaml" in result.stderr
    assert path.read_text() == ORDERED
    result = opgen("format", "--check", "f.yaml")
    assert result.exit_code == 0 and "1 file is formatted" in result.stderr


def test_format_leaves_files_with_errors_alone(opgen: Opgen) -> None:
    path = Path("f.yaml")
    path.write_text(f"{UNORDERED}\n{HOPELESS}")
    result = opgen("format", "f.yaml")
    assert result.exit_code == 1 and "error[E0404]" in result.stderr
    assert path.read_text() == f"{UNORDERED}\n{HOPELESS}"


def test_a_formatted_file_has_the_same_meaning(opgen: Opgen) -> None:
    """Everything derived from the file is compared, except line numbers."""

    def derived() -> str:
        return re.sub(r'"line": [0-9]+', "", opgen("dump", "f.yaml").stdout)

    Path("f.yaml").write_text(
        "- structured_delegate: add.out\n  func: add(Tensor self) -> Tensor\n"
        "- dispatch:\n    CPU: a\n    CUDA: b\n  structured: True\n"
        "  func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "- autogen: fill, fill.out\n  dispatch: {CPU: f}\n  tags: core\n"
        "  func: fill_(Tensor(a!) self) -> Tensor(a!)\n"
    )
    before = derived()
    assert opgen("format", "f.yaml").exit_code == 0
    assert derived() == before != ""


@pytest.mark.slow
def test_more_misspellings_than_are_shown_are_fixed_by_further_runs(opgen: Opgen) -> None:
    """One run fixes 2,000 problems; a small file gets as many rounds as it needs."""
    text = "".join(f"- func: f{i}(Tensr self) -> Tensor\n" for i in range(4_500))
    Path("a.yaml").write_text(text)
    result = opgen("lint", "a.yaml", "--fix")
    assert result.exit_code == 0, result.stderr[-300:]
    assert "4500 problems fixed\n" in result.stderr
    assert Path("a.yaml").read_text() == text.replace("Tensr", "Tensor")


@pytest.mark.slow
def test_a_large_file_needs_another_run(opgen: Opgen) -> None:
    text = "".join(f"- func: f{i}(Tensr self) -> Tensor\n" for i in range(2_500))
    comment = "#" + "x" * 999 + "\n"
    Path("a.yaml").write_text(comment * 1_900 + text)
    first = opgen("lint", "a.yaml", "--fix")
    assert (first.exit_code, first.stderr.split("\n")[0]) == (
        1,
        "2000 problems fixed; run it again for more",
    )
    second = opgen("lint", "a.yaml", "--fix")
    assert (second.exit_code, second.stderr) == (0, "500 problems fixed\n")


def test_format_leaves_a_file_with_very_many_errors_alone(opgen: Opgen) -> None:
    """More errors than are reported once caused a traceback."""
    Path("a.yaml").write_text("- *a\n" * 2_000)
    result = opgen("format", "a.yaml")
    assert (result.exit_code, "Traceback" in result.stderr) == (1, False)
    assert "E0911" in result.stderr


@pytest.mark.slow
def test_format_fixes_more_white_space_than_errors_are_shown(opgen: Opgen) -> None:
    text = "".join(f"- func: f{i}(Tensor self,int a) -> Tensor\n" for i in range(3_000))
    Path("a.yaml").write_text(text)
    result = opgen("format", "a.yaml")
    assert (result.exit_code, result.stderr) == (0, "formatted a.yaml\n")
    assert Path("a.yaml").read_text() == text.replace(",", ", ")
