"""Sweeps over the operators: every int of every operator as an extreme number, and every bool as another byte than 0
and 1. The default tests sweep over the slice of the library, the slow ones over all operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

pytest.importorskip("torch")  # The drawing code needs it.

from differential.numerics.values import BY_NAME
from robust.hunt.builds import built
from robust.hunt.calls import Crash, Worker
from robust.hunt.drawing import Base, Drawer
from robust.hunt.plans import Buffer, Place, Plan, Ref, described
from robust.hunt.worker import Facts, Outcome
from support.library import WHOLE, own_registry, slice_names

SLICE_OR_ALL = pytest.mark.parametrize("whole", [False, pytest.param(True, marks=WHOLE)])
# Their results have the bytes.
BY_BYTES = ("view.dtype", "view_copy.dtype")


@pytest.fixture(scope="module")
def drawer() -> Drawer:
    return Drawer(own_registry(), pytest.importorskip("torch"))


@pytest.fixture()
def worker() -> Iterator[Worker]:
    made = Worker(built("none"), exact=True)
    yield made
    made.stop()


def names(drawer: Drawer, whole: bool) -> list[str]:
    return [name for name in drawer.overloads if whole or name in slice_names()]


def base_of(drawer: Drawer, name: str, dtype: str) -> Base | None:
    """Draw a valid input of the operator; None if it has none of the dtype."""
    for seed in range(3):
        try:
            found = drawer.base(name, BY_NAME[dtype], seed)
        except Exception:  # PyTorch raised it when asked for the shape of an output.
            continue
        if found is not None:
            return found
    return None


def problem(plan: Plan, answer: Outcome | Crash) -> str | None:
    if isinstance(answer, Crash):
        return f"{answer.kind} at {answer.where}: {described(plan)}"
    tensors = [each for each in (*answer.results, *answer.tensors) if isinstance(each, Facts)]
    return None if all(each.fits for each in tensors) else f"outside: {described(plan)}"


@SLICE_OR_ALL
def test_extreme_ints(drawer: Drawer, worker: Worker, whole: bool) -> None:
    """Protects memory: an operator refuses each number, or returns a tensor within its storage. Under a sanitizer
    ($OPGEN_SANITIZED), sums and products that wrap around are reported as well."""
    found, calls = [], 0
    for name in names(drawer, whole):
        base = base_of(drawer, name, "float32") or base_of(drawer, name, "int64")
        if base is None:
            continue
        plans = list(drawer.extremes(base, Random(name), 8 if whole else 2))
        calls += len(plans)
        answers = zip(plans, worker.answers(plans), strict=True)
        found += [said for plan, answer in answers if (said := problem(plan, answer)) is not None]
    assert not found, "\n".join(map(str, found))
    assert calls > (5000 if whole else 200)


def with_other_bytes(plan: Plan, random: Random) -> Plan:
    """Return the plan with other bytes for the same truth values."""
    buffers = [
        (
            Buffer("bool", bytes(byte and random.choice((1, 2, 7, 128, 255)) for byte in b.content))
            if b.dtype == "bool"
            else b
        )
        for b in plan.buffers
    ]
    return replace(plan, buffers=tuple(buffers))


def truths(outcome: Outcome) -> list[Any]:
    """Return what a call returned and wrote, with 0 or 1 for each bool."""

    def plain(fact: Any) -> Any:
        if not isinstance(fact, Facts) or fact.dtype != "bool" or fact.content is None:
            return fact
        return replace(fact, content=bytes(byte != 0 for byte in fact.content))

    return [outcome.refused, *map(plain, (*outcome.results, *outcome.tensors))]


@SLICE_OR_ALL
def test_bools_of_any_byte(drawer: Drawer, worker: Worker, whole: bool) -> None:
    """Protects results and memory: all bytes but 0 are true, for each operator that reads bools."""
    found, calls = [], 0
    for name in names(drawer, whole):
        random = Random(name)
        for dtype in ("bool", "float32"):
            base = base_of(drawer, name, dtype)
            if base is None or name in BY_BYTES:
                continue
            plan = drawer.plan(base, random, 0)
            if plan.unspecified or not any(b.dtype == "bool" and b.content for b in plan.buffers):
                continue
            calls += 1
            usual, other = worker.answers([plan, with_other_bytes(plan, random)])
            if isinstance(usual, Crash) or isinstance(other, Crash):
                found.append(problem(plan, other if isinstance(other, Crash) else usual))
            elif truths(usual) != truths(other):
                found.append(described(plan))
    assert not found, "\n".join(map(str, found))
    assert calls > (300 if whole else 40)


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("strides", [(0, 1), (1, 0), (0, 0), (2, 1)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8"])
def test_nothing_is_read_without_elements(
    worker: Worker, dtype: str, strides: tuple[int, int]
) -> None:
    """Protects memory: the element of a line that is repeated was read although the line was empty."""
    buffer = Buffer(dtype, bytes(BY_NAME[dtype].itemsize))
    places = tuple(Place(number, (0,), (step,), 1) for number, step in enumerate(strides))
    plan = Plan("dot", "", "dot", (Ref(0), Ref(1)), (), (buffer, buffer), places)
    (answer,) = worker.answers([plan])
    assert isinstance(answer, Outcome), answer
    assert answer.refused is None, answer.message
    (result,) = answer.results
    assert result.content == bytes(BY_NAME[dtype].itemsize)
