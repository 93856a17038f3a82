"""What a change does not run of the slow tests: another commit does, and what the change touches runs."""

from __future__ import annotations

import pytest

from support import sampling
from support.build import REPOSITORY
from support.library import own_registry
from support.sampling import in_part, keep_sample, operators_of, touched_since

KERNELS = sorted((REPOSITORY / "kernels").glob("*.cpp"))


class Case:
    """A collected test for one operator."""

    path = REPOSITORY / "tests" / "test_of_operators.py"

    def __init__(self, name: str) -> None:
        self.nodeid = name
        self.marks = {"slow": pytest.mark.slow.mark, "sampled": pytest.mark.sampled(4).mark}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)


class Build(Case):
    """A collected test of a file that takes turns."""

    path = REPOSITORY / "tests" / "integration" / "run" / "test_torch_gradients.py"

    def __init__(self, *, slow: bool) -> None:
        self.nodeid = "test_compile"
        self.marks = {"slow": pytest.mark.slow.mark} if slow else {}


def test_each_case_runs_once_in_four_commits() -> None:
    for case in map(Case, map(str, range(100))):
        assert sum(in_part(case, commit) for commit in range(1000, 1004)) == 1  # type: ignore[arg-type]


def test_a_sample_runs_and_the_rest_is_named() -> None:
    cases = [Case(str(i)) for i in range(400)]
    kept, left = keep_sample(cases, None)  # type: ignore[arg-type]
    assert 60 < len(kept) < 140
    assert {*kept, *left} == {*cases}


def test_a_file_runs_once_in_five_commits_and_when_it_changed_or_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, default = Build(slow=True), Build(slow=False)
    ran = [in_part(slow, commit) for commit in range(1000, 1005)]  # type: ignore[arg-type]
    assert sum(ran) == 1
    assert all(in_part(default, commit) for commit in range(1000, 1005))  # type: ignore[arg-type]
    monkeypatch.setattr(sampling, "commit_number", lambda: 1000 + (ran.index(True) + 1) % 5)
    items = [slow, default]
    assert keep_sample(items, None) == ([default], [slow])  # type: ignore[arg-type]
    assert keep_sample(items, None, {slow.path}) == (items, [])  # type: ignore[arg-type]
    monkeypatch.setattr(sampling, "touched_since", lambda _: (frozenset(), {slow.path}))
    assert keep_sample(items, "main") == (items, [])  # type: ignore[arg-type]


def test_each_file_that_takes_turns_exists_once() -> None:
    """Protects against a renamed file, which would run for every commit and make .ci/run slow again."""
    names = [name for group in sampling._IN_TURN for name in group.split()]
    assert len(names) == len({*names})
    assert not [name for name in names if not (REPOSITORY / "tests" / f"{name}.py").is_file()]


def test_a_changed_kernel_runs_its_operators() -> None:
    """Protects variants that delegate to the out= operator, and composites, whose kernels have the operator's name."""
    found = operators_of([REPOSITORY / "kernels" / "pointwise_binary.cpp"])
    assert {"add.Tensor", "add_.Tensor", "add.out"} <= found
    assert "sum" not in found
    assert "std" in operators_of([REPOSITORY / "kernels" / "reductions.cpp"])


def test_every_operator_is_found_in_some_source() -> None:
    """Protects operators from being left out because the name of their kernel is not recognised."""
    found = operators_of(KERNELS)
    names = {str(f.func.name) for f in own_registry().functions}
    assert not names - found


def test_an_unknown_commit_is_an_error() -> None:
    with pytest.raises(pytest.UsageError, match="--changed nowhere: git does not know this commit"):
        touched_since("nowhere")


def test_nothing_changed_since_the_same_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects against running everything: entries and files are compared, not the times of files."""

    def git(command: str, *words: str) -> str:
        return (REPOSITORY / words[-1].partition(":")[2]).read_text() if command == "show" else ""

    monkeypatch.setattr(sampling, "_git", git)
    assert touched_since("HEAD") == (frozenset(), frozenset())
