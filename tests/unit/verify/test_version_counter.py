"""The property version-counter: writes that nothing counts are found, and calls that write nothing are not."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

import numpy as np

from opgen.verify.caller import Finding, NotApplicable, Outcome
from opgen.verify.calls.specs import TensorSpec
from opgen.verify.properties import BY_NAME

_PLACE = ("self", None)


class Buffer:
    """A tensor that counts its writes, unless a kernel goes behind its back."""

    def __init__(self) -> None:
        self.numbers = np.ones(3)
        self.version = 0


class Call:
    """A trial of an in-place operator with one argument."""

    backend = SimpleNamespace(
        version=lambda tensor: tensor.version,
        elements=lambda tensor: tensor.numbers,
        describe=lambda tensor: SimpleNamespace(shape=tensor.numbers.shape),
    )
    finding = staticmethod(Finding)
    need_accepted = staticmethod(lambda outcome: None)
    subject = SimpleNamespace(written=("self",))

    def __init__(self, kernel: Callable[[Buffer], None]) -> None:
        self.kernel = kernel

    def written(self) -> dict[Any, TensorSpec]:
        return {_PLACE: TensorSpec("float64", (3,))}

    def run(self, prepare: Callable[[Outcome], None]) -> Outcome:
        outcome = Outcome()
        outcome.given = {"self": Buffer()}
        prepare(outcome)
        self.kernel(outcome.given["self"])
        return outcome


def findings(kernel: Callable[[Buffer], None]) -> list[str]:
    return [found.message for found in BY_NAME["version-counter"].check(Call(kernel))]  # type: ignore[arg-type]


def counted(tensor: Buffer) -> None:
    tensor.numbers += 1
    tensor.version += 1


def hidden(tensor: Buffer) -> None:
    tensor.numbers += 1


def resized(tensor: Buffer) -> None:
    tensor.numbers = tensor.numbers[:0]


def test_writes_must_be_counted() -> None:
    assert findings(counted) == []
    assert "stays at 0" in findings(hidden)[0]
    assert "stays at 0" in findings(resized)[0]


def test_a_call_that_writes_nothing_says_nothing() -> None:
    """Protects operators such as dropout_ with p=0, which return at once."""
    with pytest.raises(NotApplicable):
        findings(lambda tensor: None)
