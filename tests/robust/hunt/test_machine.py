"""Tests of the hunts themselves: they detect defects, and the calls that they draw can be made."""

from __future__ import annotations

import io
import itertools
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")  # The drawing code needs it.

from robust.hunt import sequences, threads
from robust.hunt.builds import built
from robust.hunt.calls import EXCEPTIONS, Crash, Exceptions, Worker, crash_of
from robust.hunt.compare import difference
from robust.hunt.plans import Buffer, Place, Plan, Ref, program
from robust.hunt.sequences import Graphs
from robust.hunt.threads import Pairs
from robust.hunt.worker import Facts, Outcome

TWO = Plan(
    "add.out",
    "",
    "add",
    (Ref(0), Ref(0)),
    (("out", Ref(1)),),
    (Buffer("float32", bytes(32)),),
    (Place(0, (3,), (1,), 0), Place(0, (3,), (1,), 1)),
    frozenset({"out"}),
    written_tensors=frozenset({1}),
)


def test_a_call_that_writes_where_it_reads_is_repeated_with_separate_buffers() -> None:
    assert TWO.overlaps()
    apart = TWO.apart()
    assert not apart.overlaps()
    assert [place.buffer for place in apart.tensors] == [0, 1, 2]


def test_a_plan_is_a_program() -> None:
    """Protects the reports: each program can be run unchanged."""
    assert "m.add(t0, t0, out=t1)" in program(TWO)
    compile(program(TWO), "plan", "exec")


def test_a_wrong_tangent_is_a_difference() -> None:
    """Protects the hunt in forward mode: None stands for zeros, and only tensors of their own have tangents."""
    assert TWO.with_tangents() is None
    alone = replace(
        TWO, named=(), tensors=TWO.tensors[:1], written=frozenset(), written_tensors=frozenset()
    )
    dual = alone.with_tangents()
    assert dual is not None
    assert dual.forward
    assert "make_dual(t0" in program(dual)
    compile(program(dual), "plan", "exec")
    zeros, ones = (
        Facts("float32", (3,), (1,), 0, -1, -1, True, np.full(3, value, "float32").tobytes())
        for value in (0, 1)
    )
    right = Outcome(None, "", (ones,), (), (), (zeros,))
    assert difference(dual, right, replace(right, tangents=(None,)), None) is None
    found = difference(dual, replace(right, tangents=(ones,)), right, None)
    assert found is not None
    assert found.kind == "tangent"


def test_elements_that_share_memory_are_detected() -> None:
    assert Place(0, (7, 200), (1, 1), 0).meets_itself()
    assert Place(0, (2, 3), (0, 1), 0).meets_itself()
    assert not Place(0, (2, 3), (1, 2), 0).meets_itself()
    assert not Place(0, (1, 3), (0, 1), 0).meets_itself()


def test_a_call_that_only_one_accepts_is_a_difference() -> None:
    apart = TWO.apart()
    taken, refused = Outcome(None), Outcome("RuntimeError", "no")
    found = difference(replace(apart, operator="cat"), taken, refused, None)
    assert found is not None and found.kind == "accepted"
    found = difference(replace(apart, operator="cat"), refused, taken, None)
    assert found is not None and found.kind == "refused"
    overlap = Outcome("RuntimeError", "a single memory location")
    found = difference(replace(TWO, operator="cat"), taken, overlap, refused)
    assert found is not None and found.text == "PyTorch says RuntimeError: no"


def test_reports_of_sanitizers_are_distinguished() -> None:
    said = (
        "ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602\n"
        "    #0 0x7f00 in memcpy (/lib/libasan.so+0x1)\n"
        "    #1 0x7f01 in at::native::cat_out() /x/kernels/indexing.cpp:77\n"
    )
    crash = crash_of(said, 1)
    assert (crash.kind, crash.where) == (
        "heap-buffer-overflow",
        "indexing.cpp:77 at::native::cat_out",
    )
    said = "/x/runtime/src/shape_utils.cpp:9:12: runtime error: signed integer overflow: 9223372036854775807 + 1"
    assert crash_of(said, 1).where == "shape_utils.cpp:9"


def test_exceptions_have_reasons() -> None:
    assert Exceptions(EXCEPTIONS).reason(
        replace(TWO, operator="sort"), "values", "result 2: 3 of 4 differ"
    )
    assert not Exceptions(EXCEPTIONS).reason(TWO, "values", "result 2: 3 of 4 differ")


@pytest.mark.slow
def test_an_access_outside_of_a_storage_crashes() -> None:
    """Protects the hunt without a sanitizer: the process crashes if a byte beyond the storage is read, or if one was
    written when the storage is freed.
    """
    build = built("none")
    for line in ("ctypes.string_at(t.data_ptr() + 32, 1)", "ctypes.memset(t.data_ptr() - 1, 0, 1)"):
        program = (
            "import ctypes, sys\n"
            "from robust.hunt.worker import our_module\n"
            "m = our_module(*sys.argv[1:])\n"
            f"t = m.ones(8)\n{line}\ndel t\nprint('on')\n"
        )
        done = subprocess.run(
            build.command("-c", program, build.packages, build.runtime, build.allocator),
            env=build.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode < 0 and "on" not in done.stdout, done.stderr


@pytest.mark.slow
def test_a_worker_that_ends_goes_on_with_the_next_call() -> None:
    """Protects a long hunt from ending at its first finding."""
    worker = Worker(built("none"), exact=True)
    endless = replace(TWO, name="no_such", positional=())
    try:
        answers = list(worker.answers([TWO.apart(), endless, TWO.apart()]))
    finally:
        worker.stop()
    assert not any(isinstance(answer, Crash) for answer in answers)
    assert [getattr(answer, "refused", "") for answer in answers] == [None, "AttributeError", None]


def test_a_wrong_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the hunt with hooks: what a hook sees, and what it leaves, are compared."""
    torch = pytest.importorskip("torch")
    for name in ("ours_module", "torch_module"):
        monkeypatch.setattr(sequences.Machine, name, torch)
    monkeypatch.setattr(sequences.Machine, "journal", io.StringIO())
    machine = Graphs()
    lines = [
        "t1 = m.full((3,), 2.0, requires_grad=True)",
        "k2 = t1.register_hook(hook('k2', 'r = g * 2'))",
        "t1.sum().backward()",
    ]
    assert all(map(machine._run, lines))
    machine.tensors.append("t1")
    machine._check_gradients()
    assert machine.ours.names["log"] == {"k2": [((3,), [1.0, 1.0, 1.0])]}
    machine.ours.names["log"]["k2"] *= 2
    with pytest.raises(AssertionError, match="k2 saw"):
        machine._check_gradients()
    del machine.ours.names["log"]["k2"][0]
    machine.ours.names["t1"].grad.mul_(3)
    with pytest.raises(AssertionError, match=r"t1 requires, is a leaf, has \.grad"):
        machine._check_gradients()
    compile(sequences._whole("\n".join(lines)), "sequence", "exec")


def test_a_result_that_threads_change_is_found() -> None:
    """Protects the hunt in pairs: it compares with the result of the call alone, and keeps an exception."""
    numbers = itertools.count()
    pairs = Pairs(None, [], {})
    pairs.pair(("one", lambda: 1), ("changing by itself", lambda: next(numbers)))
    calls = itertools.count()
    with pytest.raises(AssertionError, match="late: True, not False"):
        pairs.pair(("one", lambda: 1), ("late", lambda: next(calls) > 3))
    calls = itertools.count()
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        pairs.pair(("one", lambda: 1), ("wrong", lambda: 1 // (next(calls) < 3)))
    assert pairs.counts["pairs"] == 3


@pytest.mark.slow
def test_hooks_in_random_graphs(tmp_path: Path) -> None:
    """Protects gradients and memory: hooks that return, raise, write, resize and remove each other, beside PyTorch."""
    build, journal = built("none"), tmp_path / "journal.py"
    command = build.command(sequences.__file__, build.packages, build.allocator, journal, "2", "2")
    done = build.child(command, timeout_s=900)
    assert done.code == 0, f"{done.said[-6000:]}\n{journal.read_text()}"
    assert json.loads(done.printed)["accepted"] > 100


@pytest.mark.slow
def test_each_pair_of_functions_that_take_locks(tmp_path: Path) -> None:
    """Protects threads: each function returns what it returns alone, beside each other one, and beside an operator."""
    build, plans = built("none"), tmp_path / "plans"
    plans.write_bytes(pickle.dumps([TWO.apart(), replace(TWO.apart(), named=())]))
    libraries = (build.packages, build.runtime, build.registers, plans)
    done = build.child(build.command(threads.__file__, *libraries, "1", "1"), timeout_s=900)
    assert done.code == 0, done.said
    counts = json.loads(done.printed)
    assert counts["pairs"] > 400
    assert counts["overloads"] >= 1


@pytest.mark.nightly
def test_a_short_hunt_finds_nothing(tmp_path: Path) -> None:
    """Hunt for five minutes with every operator, sequences of calls, threads and failing allocations, using the build of
    the other tests; .ci/nightly continues under sanitizers.
    """
    hunt = Path(__file__).parent
    command = [sys.executable, hunt, "all", "--sanitizer", "none", "--seconds", "300"]
    done = subprocess.run(
        [*map(str, command), "--folder", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
