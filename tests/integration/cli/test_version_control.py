"""Generated trees in git: branches merge without conflicts, and a clone, which has no stamp, loses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_support import Opgen

from opgen.io import writer
from opgen.io.files import FileState
from opgen.io.manifest import DIGESTS, MANIFEST
from opgen.pipeline.stamp import STAMP

if shutil.which("git") is None:
    pytest.skip("these tests need git", allow_module_level=True)

GENERATE = ("generate", "ops.yaml", "-o", "gen", "--python", "--shards", "2")
HEADER = "gen/include/aten/ops/{}_ops.h"


def git(folder: Path, *arguments: str) -> str:
    quiet = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    done = subprocess.run(
        ["git", *quiet, *arguments],
        cwd=folder,
        env={**clean, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def entries(*names: str) -> str:
    """Structured operators, each with all its variants, in the order of their names."""
    return "\n".join(
        f"- func: {name}(Tensor self, Tensor other, *, float p=2.0) -> Tensor\n"
        f"  variants: function, method\n  structured_delegate: {name}.out\n\n"
        f"- func: {name}_(Tensor(a!) self, Tensor other, *, float p=2.0) -> Tensor(a!)\n"
        f"  variants: function, method\n  structured_delegate: {name}.out\n\n"
        f"- func: {name}.out(Tensor self, Tensor other, *, float p=2.0, Tensor(a!) out) -> Tensor(a!)\n"
        f"  structured: True\n  dispatch:\n    CPU: {name}_out\n"
        for name in sorted(names)
    )


# Both shards have some of them, and still do without `gamma`.
BASE = ("alpha", "epsilon", "eta", "gamma", "iota", "lambda1", "mu", "omega", "pi", "theta", "zeta")
OTHERS = tuple(name for name in BASE if name != "gamma")


@pytest.fixture
def origin(opgen: Opgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a schema file and the tree that was generated from it, in which the test stands."""
    folder = tmp_path / "origin"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git(folder, "init", "-q")
    commit(opgen, folder, *BASE)
    return folder


def commit(opgen: Opgen, folder: Path, *names: str) -> None:
    (folder / "ops.yaml").write_text(entries(*names))
    assert opgen(*GENERATE).exit_code == 0
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", " ".join(names))


@pytest.fixture
def clone(origin: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone, in which the test stands."""
    folder = origin.parent / "clone"
    git(origin.parent, "clone", "-q", "origin", "clone")
    monkeypatch.chdir(folder)
    assert not Path("gen", STAMP).exists() and not Path("gen", DIGESTS).exists()
    return folder


@pytest.mark.parametrize(
    ("one", "two"), [("beta", "kappa"), ("delta", "nu"), ("beta", "sigma"), ("beta", "xi")]
)
def test_branches_that_add_operators_merge(opgen: Opgen, origin: Path, one: str, two: str) -> None:
    """The merged tree is what opgen generates from the merged schemas, byte for byte."""
    git(origin, "checkout", "-qb", "one")
    commit(opgen, origin, *BASE, one)
    git(origin, "checkout", "-q", "main")
    git(origin, "checkout", "-qb", "two")
    commit(opgen, origin, *BASE, two)
    git(origin, "merge", "-q", "--no-edit", "one")
    assert Path(HEADER.format(one)).exists() and Path(HEADER.format(two)).exists()
    result = opgen("check", *GENERATE[1:])
    assert result.exit_code == 0, result.output
    assert opgen(*GENERATE).output.startswith("gen: 0 written")


def test_a_branch_that_removes_an_operator_merges_with_one_that_adds(
    opgen: Opgen, origin: Path
) -> None:
    git(origin, "checkout", "-qb", "one")
    commit(opgen, origin, *OTHERS)
    git(origin, "checkout", "-q", "main")
    commit(opgen, origin, *BASE, "sigma")
    git(origin, "merge", "-q", "--no-edit", "one")
    assert opgen("check", *GENERATE[1:]).exit_code == 0


def test_the_stamp_is_not_committed(origin: Path) -> None:
    assert Path("gen", STAMP).exists() and Path("gen", DIGESTS).exists()
    assert git(origin, "status", "--porcelain", "--untracked-files=all") == ""
    tracked = git(origin, "ls-files").split()
    assert "gen/.gitignore" in tracked
    assert not {f"gen/{STAMP}", f"gen/{DIGESTS}"} & set(tracked)


def test_the_users_gitignore_stays(opgen: Opgen, origin: Path) -> None:
    """Users may have one before the first run, may edit the generated one, and may remove it."""
    ignore = Path("gen/.gitignore")
    ignore.write_text("mine\n")
    commit(opgen, origin, *BASE, "beta")
    assert ignore.read_text() == "mine\n"
    ignore.unlink()
    commit(opgen, origin, *BASE)
    assert not ignore.exists()
    shutil.rmtree("gen")
    Path("gen").mkdir()
    ignore.write_text("mine\n")
    commit(opgen, origin, *BASE)
    assert ignore.read_text() == "mine\n"


def test_no_digest_is_committed(origin: Path) -> None:
    text = Path("gen", MANIFEST).read_text()
    assert "pending" not in text and "RegisterCPU" in text
    assert not [word for word in text.split('"') if len(word) >= 32 and word.isalnum()]


def test_a_clone_removes_unedited_files(opgen: Opgen, clone: Path) -> None:
    Path("ops.yaml").write_text(entries(*OTHERS))
    result = opgen(*GENERATE)
    assert "5 removed" in result.output and "kept" not in result.output
    assert not list(Path("gen").rglob("gamma*"))
    assert opgen("check", *GENERATE[1:]).exit_code == 0


@pytest.mark.parametrize("committed", [False, True])
def test_a_clone_keeps_edited_files(opgen: Opgen, clone: Path, committed: bool) -> None:
    edited = Path(HEADER.format("gamma"))
    edited.write_text(edited.read_text() + "// mine\n")
    if committed:
        git(clone, "commit", "-qam", "an edit")
    Path("ops.yaml").write_text(entries(*OTHERS))
    result = opgen(*GENERATE)
    assert "4 removed, 1 no longer generated but perhaps edited by hand, kept" in result.output
    assert edited.read_text().endswith("// mine\n")


def test_a_clone_of_a_commit_whose_tree_is_old(opgen: Opgen, origin: Path, clone: Path) -> None:
    """The schemas of the last commit lack the operator, so opgen uses those of the commit that wrote its files."""
    Path("ops.yaml").write_text(entries(*OTHERS))
    git(clone, "commit", "-qam", "not generated")
    assert "5 removed" in opgen(*GENERATE).output
    assert opgen("check", *GENERATE[1:]).exit_code == 0


def test_without_git_every_file_is_kept_and_reported(
    opgen: Opgen, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(".git")
    Path("gen", STAMP).unlink()
    Path("gen", DIGESTS).unlink()
    Path("ops.yaml").write_text(entries(*OTHERS))
    result = opgen(*GENERATE)
    assert "5 no longer generated but perhaps edited by hand, kept" in result.output
    assert len(list(Path("gen").rglob("gamma*"))) == 5


def test_a_clone_does_not_overwrite_other_files(opgen: Opgen, clone: Path) -> None:
    mine = Path(HEADER.format("beta"))
    mine.write_text("mine\n")
    Path("ops.yaml").write_text(entries(*BASE, "beta"))
    result = opgen(*GENERATE)
    assert result.exit_code == 1 and "E0901" in result.output
    assert mine.read_text() == "mine\n"
    assert git(clone, "status", "--porcelain", "--untracked-files=all").split() == [
        *("M", "ops.yaml", "??", mine.as_posix())
    ]


@pytest.mark.slow
def test_a_run_that_was_killed_in_a_clone_is_repaired(
    opgen: Opgen, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every file in turn: nothing that it wrote is foreign to the next run, and nothing of it is left."""
    real, left = writer.replace_file, 0

    def replace_some(path: Path | str, content: bytes) -> FileState:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return real(path, content)

    for written in (1, 2, 9, 14, 20):
        left = written
        Path("ops.yaml").write_text(entries(*OTHERS, "rho"))
        with monkeypatch.context() as patched:
            patched.setattr(writer, "replace_file", replace_some)
            assert opgen(*GENERATE).exit_code == 1
        Path("ops.yaml").write_text(entries(*OTHERS[1:]))
        result = opgen(*GENERATE)
        assert result.exit_code == 0 and "kept" not in result.output, result.output
        assert opgen("check", *GENERATE[1:]).exit_code == 0
        left_over = [p for p in Path("gen").rglob("*") if p.name.startswith(("rho", "gamma"))]
        assert not left_over
        git(clone, "checkout", "-q", ".")
        git(clone, "clean", "-qfdx")


def test_another_branch_was_checked_out(opgen: Opgen, origin: Path) -> None:
    """The digests are of the other branch's files; git shows that nobody edited the files."""
    git(origin, "checkout", "-qb", "other")
    changed = entries(*BASE).replace("float p=2.0", "float q=3.0")
    Path("ops.yaml").write_text(changed)
    opgen(*GENERATE)
    git(origin, "commit", "-qam", "other")
    git(origin, "checkout", "-q", "main")
    Path("ops.yaml").write_text(entries(*OTHERS))
    assert "5 removed" in opgen(*GENERATE).output
    assert opgen("check", *GENERATE[1:]).exit_code == 0
