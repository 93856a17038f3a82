"""Hunt with several threads: the same calls in parallel, on tensors large enough that the GIL is released.

Every thread writes to its own tensors and reads those of all. The threads share the module's tables, the kept
wrappers, the thread pool, and lists that other threads change. Under ThreadSanitizer, Python itself is not compiled
with it: races between our threads are detected, those on Python's own objects are not, and the GIL counts as a lock.

    python threads.py PACKAGES RUNTIME PLANS SEED SECONDS     for one process
"""

from __future__ import annotations

import collections
import ctypes
import gc
import json
import pickle
import random
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from robust.hunt.plans import Plan
from robust.hunt.worker import Caller, our_module

THREADS = 4
_POOL = 3
# A square of this side has enough elements for the GIL to be released.
SIDE = 136


class Hunter:
    """The work of the threads of a process."""

    def __init__(self, module: Any, plans: list[Plan], number: int) -> None:
        self.m = module
        self.plans = plans
        self.number = number
        self.caller = Caller(module, is_torch=False)
        self.counts: collections.Counter[str] = collections.Counter()
        self.lock = threading.Lock()
        self.shared = self.tensors()
        self.box: list[Any] = list(self.shared)
        self.functions = [
            (name, found)
            for name in sorted(dir(module.Tensor))
            if type(found := getattr(module.Tensor, name)).__name__ == "Function"
        ]

    def tensors(self) -> list[Any]:
        m = self.m
        made = [m.ones((SIDE, SIDE), dtype=d) for d in (m.float32, m.float64, m.int64, m.bool)]
        return [*made, made[0].t(), made[0][:, :1].expand((SIDE, SIDE)), m.ones(5), m.ones(())]

    def work(self, thread: int, ends: float) -> None:
        chosen = random.Random(f"{self.number}|{thread}")
        counts: collections.Counter[str] = collections.Counter()
        own = self.tensors()
        while time.monotonic() < ends:
            counts["calls"] += 1
            try:
                self.one(chosen, own)
                counts["accepted"] += 1
            except (
                TypeError,
                ValueError,
                RuntimeError,
                IndexError,
                NotImplementedError,
                BufferError,
                MemoryError,
                OverflowError,
            ):
                pass
            if counts["calls"] % 256 == 0:
                own = self.tensors()
        with self.lock:
            self.counts.update(counts)

    def one(self, chosen: random.Random, own: list[Any]) -> None:
        m, shared = self.m, self.shared
        match chosen.randrange(12):
            case 0 | 1 | 2 | 3:
                name, function = chosen.choice(self.functions)
                writes = name.endswith("_") and not name.endswith("__")
                first = chosen.choice(own if writes else shared)
                rest = [
                    chosen.choice(
                        [
                            chosen.choice(shared),
                            chosen.choice(shared),
                            1,
                            0,
                            2.0,
                            (SIDE, SIDE),
                            m.float32,
                        ]
                    )
                    for _ in range(chosen.choice((0, 0, 1, 1, 1, 2)))
                ]
                if name in (
                    "repeat",
                    "expand",
                    "resize_",
                    "new_zeros",
                    "new_ones",
                    "new_full",
                    "unfold",
                ):
                    rest = [(2, SIDE, SIDE)]
                function(first, *rest)
            case 4:
                m.add(chosen.choice(shared), chosen.choice(shared), out=chosen.choice(own))
            case 5:
                m.sum(chosen.choice(shared), chosen.choice((0, 1)), out=chosen.choice(own))
            case 6:
                m.cat(self.box, 0)
            case 7:
                self.box[:] = chosen.sample(shared, chosen.randrange(len(shared)))
            case 8:
                m._foreach_add(self.box, 1)
            case 9:
                held = memoryview(chosen.choice(own))
                chosen.choice(own).add_(1)
                bytes(held[:0])
            case 10:
                chosen.choice(own).resize_((chosen.choice((3, 200)), SIDE)).zero_()
            case _ if self.plans:
                self.caller.outcome(chosen.choice(self.plans))
            case _:
                gc.collect(0)


def run_here(packages: str, runtime: str, file: str, number: int, seconds: float) -> None:
    warnings.simplefilter("ignore")
    module = our_module(packages, runtime, None)
    ctypes.CDLL(runtime)["_ZN5opgen15set_num_threadsEi"](_POOL)
    sys.setswitchinterval(1e-5)
    plans = pickle.loads(Path(file).read_bytes())
    hunter = Hunter(module, plans, number)
    gc.freeze()
    ends = time.monotonic() + seconds
    threads = [threading.Thread(target=hunter.work, args=(i, ends)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(hunter.counts))


def hunt_threads(build: Any, findings: Any, plans: list[Plan], *, seconds: float) -> None:
    """Run processes of half a minute until the time is over."""
    from robust.hunt.calls import crash_of  # noqa: PLC0415

    ends = time.monotonic() + seconds
    file = findings.folder / "threads.plans"
    file.write_bytes(pickle.dumps(plans))
    while (left := ends - time.monotonic()) > 1:
        span = min(30.0, left)
        command = build.command(
            Path(__file__), build.packages, build.runtime, file, str(findings.rounds), str(span)
        )
        code, said, printed = build.child(command, timeout_s=span * 10 + 120)
        counted = json.loads(printed.splitlines()[-1]) if printed else {}
        findings.calls["threads"] += counted.get("calls", 0)
        findings.accepted["threads"] += counted.get("accepted", 0)
        if code != 0:
            # ThreadSanitizer goes on after a report: each one is a finding.
            reports = said.split("WARNING: ThreadSanitizer: ")[1:] if code == 66 else [said]
            for report in reports:
                text = f"WARNING: ThreadSanitizer: {report}" if code == 66 else report
                crash = crash_of(text, code, "hangs" if code is None else "")
                key = f"crash: {crash.kind} at {crash.where or 'threads'}"
                shown = " ".join(map(str, command))
                findings.found(
                    key, "threads", f"seed {findings.rounds}", f"# {shown}\n", crash.report
                )
        findings.rounds += 1
        findings.write()


if __name__ == "__main__":
    run_here(*sys.argv[1:4], int(sys.argv[4]), float(sys.argv[5]))  # type: ignore[arg-type]
