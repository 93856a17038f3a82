"""The same seed draws, changes and shrinks the same calls: on a slower machine, and with other hashes of strings."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")
pytest.importorskip("hypothesis", reason="opgen[verify] is not installed")

from msgspec.structs import replace

from opgen.verify.backends.base import Described
from opgen.verify.backends.torch_backend import TorchBackend, parsed
from opgen.verify.caller import Caller, Finding, Outcome, Run
from opgen.verify.calls.learning import Effort, drawn_calls, learn, shrink
from opgen.verify.calls.programs import program
from opgen.verify.calls.specs import (
    DTYPES,
    Call,
    Fill,
    GeneratorSpec,
    TensorSpec,
    elements,
    gapped,
)
from opgen.verify.calls.sweeps import swept, with_mistakes
from opgen.verify.properties.common import with_outs
from opgen.verify.runner.examination import PLANS
from opgen.verify.runner.messages import Request
from opgen.verify.subjects import Subject

SCHEMA = "pick(Tensor self, Tensor? weight, Tensor? bias, int dim=0, *, str? mode=None) -> Tensor"


class Machine:
    """Stands in for a Caller: its operator takes matrices with a vector as weight. A call takes `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.calls: list[Call] = []

    def run(self, subject: Subject, call: Call) -> Outcome:
        ends = time.process_time() + self.seconds
        while time.process_time() < ends:
            pass
        self.calls.append(call)
        outcome = Outcome()
        weight = call.get("weight")
        if len(call["self"].shape) != 2:
            outcome.error = ValueError(f"{len(call['self'].shape)} dimensions, not 2")
        elif weight is not None and weight.shape != call["self"].shape[1:]:
            outcome.error = ValueError("weight does not fit")
        return outcome


def drawn(seed: int, seconds: float = 0.0, effort: Effort = PLANS["quick"].effort) -> list[str]:
    """Return all calls that are made, in words."""
    schema = parsed(SCHEMA)
    assert schema is not None
    subject = Subject("mylib", schema, lambda given: None)
    machine = Machine(seconds)
    learned = learn(cast(Caller, machine), subject, seed, effort)
    calls = drawn_calls(subject, learned.plans, 10, seed)
    changed = [c for call in calls[:3] for c in with_mistakes(subject, call)]
    tried: list[Call] = []

    def fails(call: Call) -> bool:
        tried.append(call)
        return machine.run(subject, call).error is None and len(call) > 2

    shrink(subject, learned.plans, 10, seed, fails, 40)
    assert learned.accepted and calls and changed and tried
    return [repr(each) for each in (*machine.calls, *calls, *changed, *tried)]


@pytest.mark.parametrize("mode", ["quick", "default"])
def test_the_calls_do_not_depend_on_the_time_they_take(mode: str) -> None:
    effort = PLANS[mode].effort
    assert drawn(3, effort=effort) == drawn(3, 0.001, effort)
    assert drawn(3, effort=effort) != drawn(4, effort=effort)


@pytest.mark.slow
def test_the_calls_do_not_depend_on_hashes(tmp_path: Path) -> None:
    """Protects also from constants that hypothesis collects from sources: it would leave a folder."""
    texts = [
        subprocess.run(
            [sys.executable, __file__],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    found: list[Any] = [json.loads(text) for text in texts]
    assert found[0] == found[1] and len(found[0]) > 100
    assert not list(tmp_path.iterdir())


def test_learning_ends_after_a_number_of_calls() -> None:
    """Protects --quick: it ends without new plans, and if no call is accepted at all."""
    effort = Effort(least=30, most=300, plans=1000, patience=5)
    patient = Effort(least=30, most=300, plans=1000, patience=300)
    schema = parsed(SCHEMA)
    assert schema is not None
    subject = Subject("mylib", schema, lambda given: None)
    counts = [learn(cast(Caller, Machine(0)), subject, 0, each).drawn for each in (effort, patient)]
    # Four optional arguments in ten combinations and each dtype of two plans come at the end, with up to eight tries each.
    assert 30 <= counts[0] < counts[1] <= 300 + 8 * 10 + 2 * 12


class Picky(Machine):
    """Its operator takes images and boxes of five numbers, and says so."""

    def run(self, subject: Subject, call: Call) -> Outcome:
        outcome = Outcome()
        if len(call["self"].shape) != 4:
            outcome.error = ValueError("Expected self.ndimension() == 4 to be true, but got false")
        elif len(call["weight"].shape) != 2 or call["weight"].shape[1] != 5:
            outcome.error = ValueError("weight must have shape as Tensor[K, 5]")
        elif call["weight"].dtype != "int32":
            outcome.error = ValueError("weight must be int32 type")
        return outcome


def test_learning_follows_what_refusals_say() -> None:
    """Protects operators that accept hardly any random call: nothing of them would be tested."""
    schema = parsed("pool(Tensor self, Tensor weight) -> Tensor")
    assert schema is not None
    subject = Subject("mylib", schema, lambda given: None)
    learned = learn(cast(Caller, Picky(0)), subject, 0, PLANS["quick"].effort)
    assert learned.accepted > 5
    words = [plan["weight"] for plan in learned.plans]
    assert {word[0] for word in words} == {"K 5"} and "int32" in {word[1] for word in words}


class Parts:
    """Stands in for a Caller: the functional variant returns a tensor and two parts."""

    def __init__(self) -> None:
        self.backend = self

    def run(self, subject: Subject, call: Call) -> Outcome:
        assert set(call) == {"self"}
        outcome = Outcome()
        outcome.returned = ("int64 [2]", ["float32 [3]", "float32 [1]"])
        return outcome

    def is_tensor(self, value: object) -> bool:
        return True

    def describe(self, value: str) -> Described:
        dtype, _, size = value.partition(" ")
        return Described((int(size[1]),), (1,), dtype, "cpu", 0, 0, 0)


def test_out_arguments_follow_the_results() -> None:
    """Protects operators with a list of out arguments: they were not tested at all."""
    outs = "Tensor(a!) first, Tensor(b!)[] parts"
    schema = parsed(f"cut.out(Tensor self, *, {outs}) -> ()")
    functional = parsed("cut(Tensor self) -> (Tensor, Tensor[])")
    assert schema is not None and functional is not None
    subject = Subject("mylib", schema, lambda given: None)
    call = {"self": TensorSpec("float32", (4,))}
    assert with_outs(cast(Caller, Parts()), subject, call) == call
    subject.functional = Subject("mylib", functional, lambda given: None)
    made = with_outs(cast(Caller, Parts()), subject, {**call, "parts": []})
    assert made["first"].shape == (2,) and made["first"].dtype == "int64"
    assert [part.shape for part in made["parts"]] == [(3,), (1,)]
    assert {part.dtype for part in made["parts"]} == {"float32"}


if __name__ == "__main__":
    print(json.dumps(drawn(0)))


@pytest.mark.parametrize("seed", range(10))
def test_optional_arguments_are_left_out_and_given(seed: int) -> None:
    """Protects defaults from going by: with some seeds, a flag was never given, or all elements were positive."""
    schema = parsed(
        "leaky(Tensor self, float slope=0.01, bool keepdim=False, bool? flat=True) -> Tensor"
    )
    assert schema is not None
    subject = Subject("mylib", schema, lambda given: None)
    learned = learn(cast(Caller, Machine(0.0)), subject, seed, PLANS["quick"].effort)
    given = [set(call) - {"self"} for call in learned.combined]
    assert (
        sorted(map(len, given)) == [0, 1, 1, 1, 2, 2, 2, 3] and len(set(map(frozenset, given))) == 8
    )
    assert {call["keepdim"] for call in learned.combined if "keepdim" in call} == {True}
    assert {call["flat"] for call in learned.combined if "flat" in call} == {False}
    assert all((elements(call["self"]) < 0).any() for call in learned.combined)


def test_lists_are_changed_as_kernels_forget() -> None:
    """Protects lists: a kernel may take all tensors for as large as the first, or read one that is None."""
    schema = parsed("join(Tensor?[] xs, float[] weights) -> Tensor")
    assert schema is not None
    subject = Subject("mylib", schema, lambda given: None)
    x = TensorSpec("float32", (4, 3))
    lists = [call["xs"] for call in swept(subject, {"xs": [x, x], "weights": [1.0, 2.0]})]
    assert [None, x] in lists
    assert [replace(x, shape=(0, 3)), x, x] in lists and [x, replace(x, shape=(1, 3)), x] in lists


def test_a_program_has_the_call_of_its_finding() -> None:
    """Protects programs from other calls than those that show a finding: NaN, layouts, nested lists."""
    schema = parsed("join(Tensor[] xs, float by, Generator? generator) -> Tensor")
    assert schema is not None
    subject = Subject("mylib", schema, lambda given: None, spelling="mylib.join")
    strange = gapped(TensorSpec("float32", (2,), values=(float("nan"), float("-inf"))))
    flipped = TensorSpec("int64", (200,), Fill(3, low=-1), flipped=(0,))
    call = {"xs": [strange, flipped], "by": float("inf"), "generator": GeneratorSpec(3)}
    finding = Finding("it is wrong", (Run("the call", call),))
    request = Request(target="runtime", loads=("mylib",), only=(subject.name,))
    text = program(subject, finding, request, call, 7)
    names: dict[str, Any] = {}
    exec(text.partition("\n\nif sys.argv")[0], names)
    assert text.startswith("# mylib::join: it is wrong\n")
    # NaN is not equal to itself.
    assert repr((names["REQUEST"], names["CALL"], names["NUMBER"])) == repr((request, call, 7))


@pytest.mark.slow
def test_tensors_of_pytorch_have_their_elements_and_can_be_resized() -> None:
    """Protects operators that resize an argument: `numpy()` had made storages that cannot be, and nothing was found."""
    torch = pytest.importorskip("torch")
    backend = TorchBackend((), (), None)
    torch.set_warn_always(False)
    for dtype, shape in itertools.product(DTYPES, ((), (0,), (2, 3))):
        for spec in (TensorSpec(dtype, shape), gapped(TensorSpec(dtype, shape))):
            made = backend.fresh(spec)
            assert backend.elements(made.clone()).tolist() == elements(spec).tolist()
            assert made.resize_(40).numel() == 40
