"""Calls with different indices, which tell a defect from an index that occurs twice."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from opgen.verify.calls.specs import (
    TensorSpec,
    elements,
    has_repeated_indices,
    with_distinct_indices,
)


def index(*values: int, shape: tuple[int, ...]) -> TensorSpec:
    return TensorSpec("int64", shape, values=values)


def test_only_integers_that_occur_twice_are_changed() -> None:
    once = {
        "self": TensorSpec("float32", (3,), values=(1.0, 1.0, 2.0)),
        "index": index(2, 0, shape=(2,)),
    }
    assert not has_repeated_indices(once)
    twice = {**once, "index": index(2, 2, shape=(2,))}
    assert has_repeated_indices(twice)
    (changed,) = with_distinct_indices(twice)
    assert changed["self"] is once["self"] and elements(changed["index"]).tolist() == [0, 1]


def test_two_tensors_are_different_together() -> None:
    """Protects index_put with two indices: each may be smaller than the number of elements that are written."""
    same = index(0, 0, 0, 0, 0, 0, shape=(2, 3))
    *_, changed = with_distinct_indices({"indices": [same, same]})
    rows, columns = (elements(spec).ravel().tolist() for spec in changed["indices"])
    assert len(set(zip(rows, columns))) == 6 and max(rows) == 1 and max(columns) == 2
