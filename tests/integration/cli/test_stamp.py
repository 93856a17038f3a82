"""The stamp: a run with a stamp has the same effect as a run without one, whatever was changed before it.

Everything observable is compared between two runs, one of them in a copy without the stamp: exit code, both output
streams, and every file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_support import GOOD, Opgen, snapshot
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opgen.cli.main import main
from opgen.data import own_files, templates_dir
from opgen.io.manifest import DIGESTS
from opgen.pipeline import generating, stamp
from opgen.pipeline.stamp import STAMP

TAGS = "- tag: core\n  desc: of the core\n"
SELECT = "operators:\n  aten::neg:\n    is_root_operator: true\n    include_all_overloads: true\n"
ARGUMENTS = ("generate", "good.yaml", "-o", "out")


def builds_anew(opgen: Opgen, *arguments: str) -> tuple[bool, int]:
    """Run, and return whether all files were generated, and the exit code."""
    built: list[object] = []
    real = generating.build_tree
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            generating,
            "build_tree",
            lambda *a, **k: built.append(a) or real(*a, **k),
        )
        code = opgen(*arguments).exit_code
    return bool(built), code


def is_stamped(opgen: Opgen, *arguments: str) -> bool:
    """Return whether a run uses the stamp."""
    before = Path("out", STAMP).read_bytes()
    anew, code = builds_anew(opgen, *(arguments or ARGUMENTS))
    assert code == 0
    return not anew and Path("out", STAMP).read_bytes() == before


def test_a_second_run_has_nothing_to_do(opgen: Opgen) -> None:
    first = opgen(*ARGUMENTS)
    before = snapshot("out")
    assert is_stamped(opgen)
    second = opgen(*ARGUMENTS)
    assert second.stdout == first.stdout.replace(
        f"{len(before) - 1} written, 0", f"0 written, {len(before) - 1}"
    )
    assert snapshot("out") == before


def test_the_report_of_a_stamped_run_is_that_of_the_first(opgen: Opgen) -> None:
    """Warnings are repeated, in the requested format."""
    entry = "- func: mine::neg(Tensor self) -> Tensor\n  variants: function, method\n"
    Path("warn.yaml").write_text(entry + "  dispatch:\n    CPU: neg_cpu\n")
    arguments = ("generate", "warn.yaml", "-o", "out", "--target", "torch")
    first = opgen(*arguments)
    assert "warning" in first.stderr
    assert is_stamped(opgen, *arguments)
    assert opgen(*arguments).stderr == first.stderr
    as_json = opgen(*arguments, "--format", "json").stdout
    assert json.loads(as_json.splitlines()[0])["severity"] == "warning"
    assert opgen(*arguments, "--deny-warnings").exit_code == 1


@pytest.mark.parametrize(
    "option",
    [
        ("--shards", "2"),
        ("--python",),
        ("--backends", "CPU"),
        ("--ignore-keys", "CPU"),
        ("--name", "other"),
        ("--tags", "tags2.yaml"),
        ("--select", "select.yaml"),
        ("--strict-torchgen",),
        ("--format", "json"),
        ("--deny-warnings",),
    ],
    ids=lambda option: option[0],
)
def test_options_are_part_of_the_key(opgen: Opgen, option: tuple[str, ...]) -> None:
    yaml = Path("good.yaml")
    yaml.write_text(yaml.read_text().replace("  variants: function, method\n", ""))
    Path("tags2.yaml").write_text(TAGS)
    Path("select.yaml").write_text(SELECT)
    opgen(*ARGUMENTS)
    assert not is_stamped(opgen, *ARGUMENTS, *option)
    assert is_stamped(opgen, *ARGUMENTS, *option)
    assert not is_stamped(opgen)


def test_every_input_is_part_of_the_key(opgen: Opgen) -> None:
    opgen(*ARGUMENTS)
    Path("tags.yaml").write_text(TAGS)
    assert not is_stamped(opgen)
    assert is_stamped(opgen)
    Path("tags.yaml").write_text(TAGS + "# more\n")
    assert not is_stamped(opgen)
    Path("good.yaml").write_text(GOOD + "\n")
    assert not is_stamped(opgen)
    os.utime("good.yaml")
    assert is_stamped(opgen)


@pytest.mark.parametrize("change", ["content", "new", "gone"])
def test_opgen_itself_is_part_of_the_key(
    opgen: Opgen, change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [tmp_path / "a.py", tmp_path / "b.j2"]
    for path in sources:
        path.write_text("1")
    monkeypatch.setattr(stamp, "own_files", lambda: tuple(map(str, sources)))
    opgen(*ARGUMENTS)
    assert is_stamped(opgen)
    match change:
        case "content":
            seen = sources[1].stat()
            sources[1].write_text("2")
            os.utime(sources[1], ns=(seen.st_atime_ns, seen.st_mtime_ns))
        case "new":
            sources.append(tmp_path / "good.yaml")
        case _:
            sources.pop()
    assert not is_stamped(opgen)
    assert is_stamped(opgen)


def test_own_files_are_all_that_a_run_reads_of_opgen() -> None:
    found = {Path(path).relative_to(Path(stamp.__file__).parents[3]) for path in own_files()}
    names = {path.as_posix() for path in found}
    assert {"src/opgen/__init__.py", "src/opgen/emit/tree.py", "src/opgen/data/tags.yaml"} <= names
    assert {"templates/runtime/ops/root.h.j2", "templates/torch/RegisterKey.cpp.j2"} <= names
    copied = {name for name in names if name.startswith("runtime/")}
    assert {"runtime/python/package/__init__.pyi", "runtime/torch/package/_loading.py"} <= copied
    assert all(re.match(r"runtime/\w+/package/", name) for name in copied)
    assert not [name for name in names if "__pycache__" in name]
    assert {str(p) for p in templates_dir().rglob("*.j2")} <= set(own_files())


def test_no_stamp_is_written_if_opgen_is_edited_during_a_run(
    opgen: Opgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "own.py"
    source.write_text("1")
    monkeypatch.setattr(stamp, "own_files", lambda: (str(source),))
    real = generating.build_tree

    def build(*arguments: object, **options: object) -> object:
        source.write_text("2")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(generating, "build_tree", build)
    opgen(*ARGUMENTS)
    assert not Path("out", STAMP).exists()


def test_an_input_edited_during_a_run_belongs_to_the_next(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run reads exactly the bytes that its key was computed from, so the edit is not lost."""
    real = generating.build_tree

    def build(*arguments: object, **options: object) -> object:
        Path("good.yaml").write_text(GOOD.replace("neg", "pos"))
        return real(*arguments, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generating, "build_tree", build)
        opgen(*ARGUMENTS)
    assert Path("out/include/aten/ops/neg.h").exists()
    opgen(*ARGUMENTS)
    assert Path("out/include/aten/ops/pos.h").exists()
    assert not Path("out/include/aten/ops/neg.h").exists()


def test_an_output_as_new_as_the_stamp_is_not_trusted(opgen: Opgen) -> None:
    """It may have been changed again within the tick of the clock in which it was written."""
    opgen(*ARGUMENTS)
    assert is_stamped(opgen)
    young = max(path.stat().st_mtime_ns for path in Path("out").rglob("*.h"))
    os.utime(Path("out", STAMP), ns=(young, young))
    assert not is_stamped(opgen)
    assert is_stamped(opgen)


@pytest.mark.parametrize("what", ["a file", "a link", "a folder"])
def test_other_files_with_the_name_of_the_stamp_are_left_alone(opgen: Opgen, what: str) -> None:
    Path("out").mkdir()
    Path("mine").write_text("mine")
    match what:
        case "a file":
            Path("out", STAMP).write_text("mine")
        case "a link":
            Path("out", STAMP).symlink_to("../mine")
        case _:
            Path("out", STAMP).mkdir()
    for _ in range(2):
        assert opgen(*ARGUMENTS).exit_code == 0
    assert Path("mine").read_text() == "mine"
    match what:
        case "a file":
            assert Path("out", STAMP).read_text() == "mine"
        case "a link":
            assert Path("out", STAMP).is_symlink()
        case _:
            assert Path("out", STAMP).is_dir()


def test_check_ignores_the_stamp(opgen: Opgen) -> None:
    """It finds a changed file even if its size, time and inode match the stamp."""
    opgen(*ARGUMENTS)
    header = Path("out/include/aten/ops/neg.h")
    seen = header.stat()
    header.write_text(header.read_text().replace("neg", "ngg"))
    os.utime(header, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert opgen("check", "good.yaml", "-o", "out").exit_code == 1


# Edits


def states(folder: str) -> dict[str, tuple[int, int]]:
    found = ((path, path.stat()) for path in Path(folder).rglob("*") if path.is_file())
    return {str(path): (seen.st_mtime_ns, seen.st_ino) for path, seen in found}


def edit(opgen: Opgen, old: str, new: str) -> set[str]:
    """Generate, edit and generate again; return which files were touched."""
    assert opgen(*ARGUMENTS).exit_code == 0
    before, yaml = states("out"), Path("good.yaml")
    assert old in yaml.read_text()
    yaml.write_text(yaml.read_text().replace(old, new))
    assert opgen(*ARGUMENTS).exit_code == 0
    after = states("out")
    return {p for p in after if before.get(p) != after[p]} - {f"out/{STAMP}"}


def test_an_edit_touches_only_the_files_that_differ(opgen: Opgen) -> None:
    """Build systems compile again what has a new time."""
    ours = {"include/aten/ops/neg_native.h", "src/RegisterCPU.cpp", "stubs/CPUStubs.cpp"}
    files = {f"out/{path}" for path in (*ours, "opgen_manifest.json", DIGESTS)}
    assert edit(opgen, "neg_cpu", "negate") == files
    assert is_stamped(opgen)
    assert opgen("check", "good.yaml", "-o", "out").exit_code == 0


def test_a_comment_touches_no_file_but_the_stamp(opgen: Opgen) -> None:
    assert edit(opgen, "- func: neg", "# The next one.\n- func: neg") == set()
    assert is_stamped(opgen)


# Random edits: a stamped run compared with a run in a copy without the stamp


class Pair:
    """A folder to work in, and a copy in which a run without the stamp shows what should have happened."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.stamped, self.fresh = top / "stamped", top / "fresh"
        self.stamped.mkdir(parents=True)
        (self.stamped / "good.yaml").write_text(GOOD)

    def outputs(self) -> list[Path]:
        """Return the files, folders and links in out/, without the stamp itself."""
        found = sorted((self.stamped / "out").rglob("*"))
        return [path for path in found if path.name != STAMP]

    def assert_same(self, options: tuple[str, ...]) -> None:
        shutil.rmtree(self.fresh, ignore_errors=True)
        shutil.copytree(self.stamped, self.fresh, symlinks=True)
        (self.fresh / "out" / STAMP).unlink(missing_ok=True)
        assert run(self.stamped, options) == run(self.fresh, options)


def run(folder: Path, options: tuple[str, ...]) -> object:
    """Return everything observable of a run and of the files that it left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(main, [*ARGUMENTS, *options])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr, dict(contents(folder))


def contents(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.name != STAMP:
            what = os.readlink(path) if path.is_symlink() else ""
            text = path.read_text() if path.is_file() and not what else ""
            yield path.relative_to(folder).as_posix(), what + text


def _input(pair: Pair, choose: Callable[[int], int]) -> None:
    texts = {
        "good.yaml": (
            GOOD,
            GOOD + "\n",
            GOOD.replace("neg", "pos"),
            GOOD.replace("int", "x"),
            GOOD.replace("neg_cpu", "negate"),
            GOOD.replace("Tensor other", "Tensor more"),
        ),
        "tags.yaml": ("", TAGS, TAGS + "\n"),
        "select.yaml": (SELECT, SELECT.replace("neg", "add")),
    }
    name = ("good.yaml", "tags.yaml", "select.yaml")[choose(3)]
    text = texts[name][choose(len(texts[name]))]
    path = pair.stamped / name
    if text:
        path.write_text(text)
    else:
        path.unlink(missing_ok=True)


def _output_text(pair: Pair, choose: Callable[[int], int]) -> None:
    """Change an output in place, in most cases without changing its size: git calls this racily clean."""
    files = [path for path in pair.outputs() if path.is_file() and not path.is_symlink()]
    if files:
        path = files[choose(len(files))]
        text = path.read_text()
        place = choose(len(text) + 1)
        path.write_text(text[:place] + "x" * choose(3) + text[place + 1 :])


def _output_gone(pair: Pair, choose: Callable[[int], int]) -> None:
    found = pair.outputs()
    if found:
        path = found[choose(len(found))]
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _output_linked(pair: Pair, choose: Callable[[int], int]) -> None:
    """Move a file or folder away, and replace it by a link to it."""
    found = [path for path in pair.outputs() if not path.is_symlink()]
    if found:
        path = found[choose(len(found))]
        away = pair.stamped / f"away{len(list(pair.stamped.glob('away*')))}"
        path.rename(away)
        path.symlink_to(os.path.relpath(away, path.parent))


def _added(pair: Pair, choose: Callable[[int], int]) -> None:
    """Add a user's file, or a temporary file of a killed run."""
    folders = [pair.stamped / "out", *(path for path in pair.outputs() if path.is_dir())]
    name = ("mine.txt", ".opgen-0123456789abcdef.tmp")[choose(2)]
    folder = folders[choose(len(folders))]
    if folder.is_dir():
        (folder / name).write_text("mine")


def _stamp_itself(pair: Pair, choose: Callable[[int], int]) -> None:
    """Damage the stamp, which is then ignored."""
    path = pair.stamped / "out" / STAMP
    if path.is_file():
        found = bytearray(path.read_bytes())
        place = 14 + choose(len(found) - 14)
        found[place : place + choose(3)] = b"0"
        path.write_bytes(found)


EDITS = (_input, _output_text, _output_gone, _output_linked, _added, _stamp_itself)
OPTIONS = ((), ("--shards", "2"), ("--select", "select.yaml"), ("--ignore-keys", "CPU"))


@pytest.mark.parametrize(
    "examples",
    [
        pytest.param(5, id="5"),
        pytest.param(40, id="40", marks=pytest.mark.slow),
        pytest.param(2000, id="2000", marks=pytest.mark.nightly),
    ],
)
def test_a_stamped_run_equals_a_fresh_one(tmp_path: Path, examples: int) -> None:
    """Whatever is edited between runs: inputs, outputs, links, options, the stamp itself."""

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        folder = tmp_path / "pair"
        shutil.rmtree(folder, ignore_errors=True)
        pair = Pair(folder)
        (pair.stamped / "select.yaml").write_text(SELECT)
        pair.assert_same(())
        steps = st.lists(st.sampled_from(EDITS), max_size=2)
        for edits in data.draw(st.lists(steps, min_size=1, max_size=4)):
            for edit in edits:
                edit(pair, lambda count: data.draw(st.integers(0, count - 1)))
            pair.assert_same(data.draw(st.sampled_from(OPTIONS)))

    check()
