"""Which name was meant: found by edit distance, and certain only if one name is nearer than all others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.diagnostics.suggestions import Vocabulary, edit_distance

WORDS = st.text("abc", max_size=7)


def plainly(a: str, b: str) -> int:
    """Compute the distance by its definition, without a limit: optimal string alignment."""
    if not a or not b:
        return len(a) + len(b)
    found = min(
        plainly(a[:-1], b) + 1,
        plainly(a, b[:-1]) + 1,
        plainly(a[:-1], b[:-1]) + (a[-1] != b[-1]),
    )
    if len(a) > 1 and len(b) > 1 and a[-2:] == b[-1] + b[-2]:
        found = min(found, plainly(a[:-2], b[:-2]) + 1)
    return found


@given(st.text("abc", max_size=5), st.text("abc", max_size=5), st.integers(0, 6))
def test_the_distance_is_that_of_the_definition_up_to_the_limit(a: str, b: str, limit: int) -> None:
    assert min(edit_distance(a, b, limit), limit + 1) == min(plainly(a, b), limit + 1)


@given(WORDS, WORDS)
def test_the_distance_is_the_same_both_ways(a: str, b: str) -> None:
    assert edit_distance(a, b, 9) == edit_distance(b, a, 9)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("Tensr", ("Tensor", "Dimname"), "Tensor"),
        ("vairants", ("variants", "dispatch"), "variants"),
        ("tensor", ("Tensor", "Tensorlike"), "Tensor"),
        ("is_root", ("name", "is_root_operator"), "is_root_operator"),
        ("add.uot", ("sub.out", "add.out"), "add.out"),
        # Too far: the limit is a third of the characters, and at most three.
        ("xyz", ("abc", "Tensor"), None),
        ("AutogradVulkan", ("AutogradXLA", "AutogradCUDA"), None),
        ("", ("a",), None),
        ("x" * 65, ("x" * 64,), None),
        # Names that differ only in case are nearer.
        ("Int", ("Ent", "int"), "int"),
    ],
)
def test_nearest(name: str, known: tuple[str, ...], expected: str | None) -> None:
    assert Vocabulary(known).nearest(name) == expected


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("Tensr", ("Tensor", "Dimname"), "Tensor"),
        ("CPO", ("CPU", "CUDA"), "CPU"),
        # Equally near.
        ("APU", ("CPU", "XPU"), None),
        # Two edits make a different word out of a short one.
        ("CPXX", ("CPU",), None),
        ("nondeterministc_seded", ("nondeterministic_seeded", "core"), "nondeterministic_seeded"),
        # Three edits are only a guess, however long the name is.
        ("nondeterminstc_seded", ("nondeterministic_seeded", "core"), None),
    ],
)
def test_only_near_names(name: str, known: tuple[str, ...], expected: str | None) -> None:
    assert Vocabulary(known).only_near(name) == expected
