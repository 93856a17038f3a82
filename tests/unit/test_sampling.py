"""What a change does not run of the tests of every operator: another commit does, and what the change touches runs."""

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
        self.mark = pytest.mark.sampled(4).mark

    def get_closest_marker(self, name: str) -> pytest.Mark:
        return self.mark


def test_each_case_runs_once_in_four_commits() -> None:
    for case in map(Case, map(str, range(100))):
        assert sum(in_part(case, commit) for commit in range(1000, 1004)) == 1  # type: ignore[arg-type]


def test_a_sample_runs_and_the_rest_is_named() -> None:
    cases = [Case(str(i)) for i in range(400)]
    kept, left = keep_sample(cases, None)  # type: ignore[arg-type]
    assert 60 < len(kept) < 140
    assert {*kept, *left} == {*cases}


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
