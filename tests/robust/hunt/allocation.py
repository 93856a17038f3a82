"""Hunt with failing requests for memory, mappings and threads: in calls that were accepted in the hunt `calls`, the
n-th request of each kind fails, for every n until there is no further request.

A call whose request fails must raise an exception or return its usual result. In both cases, all tensors must lie in
their storages, those that the call does not write must be unchanged, and the same call made again must return the
right result.

    python allocation.py PACKAGES RUNTIME FAULTS PLANS FIRST JOURNAL     for one process
"""

from __future__ import annotations

import collections
import ctypes
import gc
import json
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from robust.hunt.findings import crash_of
from robust.hunt.plans import Plan, described, program
from robust.hunt.worker import Caller, Facts, Outcome, our_module

KINDS = ("memory", "mmap", "thread")
# At most this many requests of one call are made to fail, from the first on.
MOST = 400
_THREADS = 4


class Faults:
    """Calls of faults.cpp."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.PyDLL(library)
        self._library.hunt_fault_call.argtypes = (ctypes.c_int, ctypes.c_long, ctypes.py_object)
        self._library.hunt_fault_call.restype = ctypes.py_object

    def during(
        self, kind: int, n: int, call: Callable[[], Any]
    ) -> tuple[bool, Any, Exception | None]:
        """Make the call; return whether the n-th request was made, and so failed, and the result or the exception."""
        try:
            result = self._library.hunt_fault_call(kind, n, call)
        except Exception as error:
            error.__traceback__ = None
            return bool(self._library.hunt_fault_was_met(kind)), None, error
        return bool(self._library.hunt_fault_was_met(kind)), result, None


class Wrong(Exception):
    """A defect caused by a failing request."""


def run_plan(
    caller: Caller, faults: Faults, plan: Plan, counts: collections.Counter[str], say: Any
) -> None:
    """Let every request in one call fail, one after another."""
    wanted = caller.outcome(plan)
    if wanted.refused is not None or caller.outcome(plan) != wanted:
        return
    for kind, name in enumerate(KINDS):
        for n in range(MOST):
            say(f"{name} {n}")
            with caller.level(plan):
                if not _fails(caller, faults, plan, wanted, (kind, n), counts):
                    break
    _same(plan, wanted, caller.outcome(plan), "made again")


def _fails(
    caller: Caller,
    faults: Faults,
    plan: Plan,
    wanted: Outcome,
    request: tuple[int, int],
    counts: collections.Counter[str],
) -> bool:
    """Let one request fail: a kind and its number. Returns whether the call made it."""
    name = KINDS[request[0]]
    when = f"{name} {request[1]}"
    bases, tensors = caller.made(plan)
    before = [caller.facts(tensor, bases, tensors) for tensor in tensors]
    counts["calls"] += 1
    made, value, refused = faults.during(*request, caller.prepared(plan, tensors))
    if not made:
        return False
    counts[f"{name}: failed"] += 1
    counts[f"{name}: {'refused' if refused else 'returned the usual result'}"] += 1
    if isinstance(refused, SystemError):
        raise Wrong(f"{when}: {refused}")
    after = [caller.facts(tensor, bases, tensors) for tensor in tensors]
    _compare(plan, before, after, refused, when, counts)
    if refused is None:
        _same(plan, wanted, caller.read(plan, value, bases, tensors), when)
    return True


def start_threads(module: Any, faults: Faults, counts: collections.Counter[str]) -> None:
    """Let the start of each thread fail in turn, during the first large call, which starts the thread pool. Each
    attempt runs in a forked process, which has no pool yet.
    """
    size = 1 << 21
    for n in range(_THREADS):
        child = os.fork()
        if child == 0:

            def call() -> Any:
                return module.ones((size,)).add(1).sum().item()

            met, value, refused = faults.during(2, n, call)
            right = refused is None and value == 2 * size and call() == value
            os._exit(9 if not right else 1 if met else 0)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        counts["calls"] += 2
        counts["thread: failed"] += code == 1
        if code not in (0, 1):
            raise Wrong(f"thread {n}: a large call ends with {code}")


def _compare(
    plan: Plan,
    before: list[Facts],
    after: list[Facts],
    refused: Exception | None,
    when: str,
    counts: collections.Counter[str],
) -> None:
    for number, (was, now) in enumerate(zip(before, after)):
        if not now.fits:
            raise Wrong(f"{when}: t{number} does not fit its storage: {now.sizes} by {now.strides}")
        if refused is None:
            continue
        if (was.sizes, was.strides, was.offset) != (now.sizes, now.strides, now.offset):
            if number not in plan.written_tensors:
                raise Wrong(f"{when}: t{number} is {now.sizes}, was {was.sizes}")
            counts["(written, of other sizes, then refused)"] += 1
        shared = {plan.tensors[t].buffer for t in plan.written_tensors}
        if plan.tensors[number].buffer not in shared and was.content != now.content:
            raise Wrong(f"{when}: t{number} is not written, and has other elements")


def _same(plan: Plan, wanted: Outcome, got: Outcome, when: str) -> None:
    if got != wanted and not plan.unspecified:
        raise Wrong(
            f"{when}: {got.refused or ''} {got.message} other results than without a failure"
        )


def run_here(
    packages: str, runtime: str, library: str, file: str, first: int, journal: str
) -> None:
    warnings.simplefilter("ignore")
    module = our_module(packages, runtime)
    ctypes.CDLL(runtime)["_ZN5opgen15set_num_threadsEi"](_THREADS)
    caller, faults = Caller(module, is_torch=False), Faults(library)
    plans = pickle.loads(Path(file).read_bytes())
    counts: collections.Counter[str] = collections.Counter()
    gc.collect()
    gc.freeze()
    with open(journal, "w", encoding="utf-8") as out:
        for number in range(first, len(plans)):

            def say(text: str) -> None:
                out.seek(0)
                out.write(json.dumps([number, text, counts]) + "\n")  # noqa: B023
                out.flush()

            say("")
            try:
                if number == 0:
                    start_threads(module, faults, counts)
                run_plan(caller, faults, plans[number], counts, say)
            except Wrong as wrong:
                out.seek(0)
                out.write(json.dumps([number, f"wrong: {wrong}", counts]) + "\n")
                out.flush()
                sys.exit(7)
        say("end")


def hunt_allocation(build: Any, findings: Any, plans: list[Plan], *, seconds: float) -> None:
    """Run all `plans` while there is time; the next hunt continues after the last one."""
    ends = time.monotonic() + seconds
    file, journal = findings.folder / "allocation.plans", findings.folder / "allocation.journal"
    file.write_bytes(pickle.dumps(plans))
    while findings.rounds < len(plans) and (left := ends - time.monotonic()) > 1:
        libraries = (build.packages, build.runtime, build.faults)
        command = build.command(__file__, *libraries, file, str(findings.rounds), journal)
        journal.write_text("")
        code, said, _ = build.child(command, build.faults, timeout_s=left)
        try:
            number, text, counts = json.loads(journal.read_text().splitlines()[0])
        except (IndexError, ValueError):
            raise AssertionError(f"no call was made\n{said[-3000:]}") from None
        findings.calls["allocation"] += counts.get("calls", 0)
        findings.accepted["allocation"] += counts.get("calls", 0)
        for name, count in counts.items():
            findings.kinds[f"({name})" if name[0] != "(" else name] += count
        findings.rounds = number + (code is not None)
        if code:
            plan = plans[number]
            shown = (plan.operator, f"{text}: {described(plan)}", program(plan))
            if text.startswith("wrong: "):
                what = text.partition(": ")[2].partition(": ")[2][:80]
                findings.found(f"allocation: {plan.operator}: {what}", *shown, "")
            else:
                findings.crashed(crash_of(said, code), plan.operator, *shown)
        findings.write()


if __name__ == "__main__":
    run_here(*sys.argv[1:5], int(sys.argv[5]), sys.argv[6])  # type: ignore[arg-type]
