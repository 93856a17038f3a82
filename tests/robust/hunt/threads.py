"""Hunt with several threads: the same calls in parallel, on tensors large enough that the GIL is released.

Every thread writes to its own tensors and reads those of all. The threads share the module's tables, the kept
wrappers, the thread pool, and lists that other threads change. Under ThreadSanitizer, Python itself is not compiled
with it: races between our threads are detected, those on Python's own objects are not, and the GIL counts as a lock.

Every other process runs pairs of functions, each in a thread: first those that take locks with each other, then the
plans with them and with each other. Each must return what it returns alone.

    python threads.py PACKAGES RUNTIME REGISTERS PLANS SEED SECONDS     for one process
"""

from __future__ import annotations

import _ctypes
import collections
import copy
import ctypes
import faulthandler
import gc
import itertools
import json
import pickle
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from robust.hunt.findings import crash_of
from robust.hunt.plans import Plan, described
from robust.hunt.worker import Caller, our_module

THREADS = 4
_POOL = 3
# A square of this side has enough elements for the GIL to be released.
SIDE = 136
_REFUSALS = (
    TypeError,
    ValueError,
    RuntimeError,
    IndexError,
    BufferError,
    MemoryError,
    OverflowError,
)
# Methods that take sizes.
_SIZED = ("repeat", "expand", "resize_", "new_zeros", "new_ones", "new_full", "unfold")


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
            except _REFUSALS:
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
                numbers = (1, 0, 2.0, (SIDE, SIDE), m.float32)
                rest = [
                    chosen.choice((chosen.choice(shared), chosen.choice(shared), *numbers))
                    for _ in range(chosen.choice((0, 0, 1, 1, 1, 2)))
                ]
                rest = [(2, SIDE, SIDE)] if name in _SIZED else rest
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


class Removes:
    """A hook whose end removes another hook."""

    def __init__(self, other: Any) -> None:
        self.other = other

    def __call__(self, *gradients: Any) -> None:
        pass

    def __del__(self) -> None:
        self.other.remove()


def locking(
    m: Any, runtime: ctypes.CDLL, registers: str, size: int
) -> dict[str, Callable[[], Any]]:
    """Return functions that take locks, on the same tensors; each returns the same in every call."""
    ad = m.autograd.forward_ad
    x = m.ones((size,))
    leaf = m.ones((size,), requires_grad=True)
    base = leaf * 1
    generator = m.Generator()
    defines = ctypes.CDLL(registers).hunt_register
    threads = runtime["_ZN5opgen15set_num_threadsEi"]
    set_dtype = runtime["_ZN5opgen17set_default_dtypeENS_10ScalarTypeE"]
    default_dtype = runtime["_ZN5opgen17get_default_dtypeEv"]()
    defines.restype = threads.restype = set_dtype.restype = None
    runtime.opgen_operators.restype = runtime.opgen_operator_table.restype = ctypes.c_void_p
    runtime.opgen_value_free.argtypes = [ctypes.c_void_p]

    def summed(tensor: Any) -> float:
        return float(tensor.sum())

    def gradient(register: Callable[[Any], Any]) -> Any:
        """Return the gradient of a graph of one's own, after `register` has used the graph."""
        y = leaf * x
        kept = register(y)
        (found,) = m.autograd.grad((y * y).sum(), leaf)
        return summed(found), kept is None

    def removed(register: Callable[[Any], Any]) -> None:
        handles = [register(Removes(leaf.register_hook(Removes(base.register_hook(print)))))]
        del handles[0]
        # A backward pass of the other thread may call it.
        register(Removes(register(lambda *_: None))).remove()

    def changed(y: Any) -> None:
        y.register_hook(lambda g: g * 3)

    def level() -> Any:
        with ad.dual_level():
            return summed(ad.unpack_dual(ad.make_dual(x, x) * x).tangent)

    def profiled() -> None:
        with m.profile() as profile:
            x * x
        profile.table()

    def cast() -> Any:
        with m.autocast("cpu"):
            return summed(x * x)

    def anomaly() -> Any:
        with m.autograd.detect_anomaly():
            return gradient(id)[0]

    def doubled(tensor: Any) -> None:
        tensor.grad.mul_(2)

    def accumulated() -> Any:
        own = x.clone().requires_grad_()
        own.register_post_accumulate_grad_hook(doubled)
        (own * x).sum().backward()
        return summed(own.grad)

    def view() -> Any:
        y = leaf * 2
        seen = y.unsqueeze(0)
        y.mul_(x)
        return seen.grad_fn.name(), base.unsqueeze(0).grad_fn.name()

    def listed() -> None:
        runtime.opgen_value_free(runtime.opgen_operators())
        runtime.opgen_value_free(runtime.opgen_operator_table(b"aten::add.Tensor"))

    def random_numbers() -> Any:
        own = m.Generator().manual_seed(3)
        return summed(m.rand((size,), generator=own)), generator.clone_state().initial_seed()

    return {
        "tensor hook": lambda: gradient(changed),
        "hook that removes": lambda: removed(leaf.register_hook),
        "leaf hook that removes": lambda: removed(leaf.register_post_accumulate_grad_hook),
        "node hook that removes": lambda: removed(base.grad_fn.register_hook),
        "node prehook that removes": lambda: removed(base.grad_fn.register_prehook),
        "retain_grad": lambda: gradient(lambda y: y.retain_grad()),
        "backward": accumulated,
        "history of a view": view,
        "load": lambda: _ctypes.dlclose(_ctypes.dlopen(registers)),
        "register": defines,
        "list of operators": listed,
        "set_num_threads": lambda: (threads(1), threads(_POOL)),
        "default dtype": lambda: set_dtype(default_dtype),
        "print": lambda: repr(x[:3]),
        "print options": lambda: m.set_printoptions(precision=4),
        "default generator": lambda: m.manual_seed(3),
        "generator": random_numbers,
        "dlpack": lambda: summed(m.from_dlpack(x)),
        "capsule": lambda: type(x.__dlpack__()).__name__,
        "numpy": lambda: summed(m.from_numpy(x.numpy())),
        "level": level,
        "profile": profiled,
        "autocast": cast,
        "anomaly": anomaly,
        "graph": lambda: summed(m.record_graph(lambda t: t * t, x).replay(x)),
        "vmap": lambda: summed(m.vmap(lambda t: t * 2)(x[:2])),
        "table": lambda: len(m.dump_table("mul.Tensor")) > 0,
        "copy": lambda: summed(copy.deepcopy(x)),
        "pickle": lambda: summed(pickle.loads(pickle.dumps(x))),
    }


class Pairs:
    """Runs pairs of functions, each in a thread."""

    def __init__(self, caller: Any, plans: list[Plan], locks: dict[str, Callable[[], Any]]) -> None:
        self.caller = caller
        self.plans = plans
        self.locks = locks
        self.counts: collections.Counter[str] = collections.Counter()

    def call(self, plan: Plan) -> Callable[[], Any]:
        """Return a call of the plan; all threads read the same tensors. The message of an exception depends on them: it
        does not wait for the schemas of operators."""
        if plan.written_tensors or plan.forward:
            outcome = partial(self.caller.outcome, plan)
            return lambda: (replace(outcome(), message=""), None)[plan.unspecified]
        bases, tensors = self.caller.made(plan)

        def run() -> Any:
            try:
                value = self.caller.prepared(plan, tensors)()
            except Exception as refused:
                return type(refused).__name__
            return None if plan.unspecified else self.caller.read(plan, value, bases, tensors)

        return run

    def run(self, chosen: random.Random, ends: float) -> None:
        """Run each pair of functions that take locks, then pairs with plans until the time is over."""
        locks = list(self.locks.items())
        pairs = list(itertools.combinations_with_replacement(locks, 2))
        chosen.shuffle(pairs)
        for first, second in pairs:
            self.pair(first, second)
        called: set[str] = set()
        while self.plans:
            for plan in chosen.sample(self.plans, len(self.plans)):
                one = (described(plan), self.call(plan))
                other = chosen.choice(self.plans)
                self.pair(one, one, times=2)
                self.pair(one, chosen.choice(locks), times=2)
                self.pair(one, (described(other), self.call(other)), times=2)
                called.add(plan.operator)
                self.counts["overloads"] = len(called)
                if time.monotonic() > ends:
                    return

    def pair(self, *both: Any, times: int = 4) -> None:
        alone = [(work(), work()) for _, work in both]
        start = threading.Barrier(2)
        wrong: list[str] = []

        def repeat(name: str, work: Callable[[], Any], before: tuple[Any, Any]) -> None:
            start.wait()
            for _ in range(times):
                now = work()
                # What is not the same when it is alone is not compared.
                if before[0] == before[1] and now != before[0]:
                    wrong.append(f"{name}: {now}, not {before[0]}")

        threads = [
            threading.Thread(target=guarded(partial(repeat, *each, before), wrong))
            for each, before in zip(both, alone)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.counts["pairs"] += 1
        self.counts["calls"] += 2 * times
        self.counts["accepted"] += 2 * times
        assert not wrong, f"{[name for name, _ in both]}: {wrong[0]}"


def guarded(work: Callable[[], None], wrong: list[str]) -> Callable[[], None]:
    def run() -> None:
        try:
            work()
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")

    return run


def run_here(
    packages: str, runtime: str, registers: str, file: str, number: int, seconds: float
) -> None:
    warnings.simplefilter("ignore")
    module = our_module(packages, runtime)
    library = ctypes.CDLL(runtime)
    library["_ZN5opgen15set_num_threadsEi"](_POOL)
    plans = pickle.loads(Path(file).read_bytes())
    ends = time.monotonic() + seconds
    if number % 2:
        faulthandler.dump_traceback_later(seconds * 10 + 600, exit=True)
        sys.setswitchinterval(1e-6)
        chosen = random.Random(number)
        locks = locking(module, library, registers, chosen.choice((4, 40_000)))
        pairs = Pairs(Caller(module, is_torch=False), plans, locks)
        pairs.run(chosen, ends)
        print(json.dumps(pairs.counts))
        return
    sys.setswitchinterval(1e-5)
    hunter = Hunter(module, plans, number)
    gc.freeze()
    threads = [threading.Thread(target=hunter.work, args=(i, ends)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(hunter.counts))


def hunt_threads(build: Any, findings: Any, plans: list[Plan], *, seconds: float) -> None:
    """Run processes of half a minute until the time is over."""
    ends = time.monotonic() + seconds
    file = findings.folder / "threads.plans"
    file.write_bytes(pickle.dumps(plans))
    while (left := ends - time.monotonic()) > 1:
        span = min(30.0, left)
        command = build.command(
            Path(__file__),
            *(build.packages, build.runtime, build.registers, file),
            *(str(findings.rounds), str(span)),
        )
        code, said, printed = build.child(command, timeout_s=span * 10 + 720)
        counted = json.loads(printed.splitlines()[-1]) if printed else {}
        findings.calls["threads"] += counted.get("calls", 0)
        findings.accepted["threads"] += counted.get("accepted", 0)
        if code != 0:
            # ThreadSanitizer goes on after a report: each one is a finding.
            reports = said.split("WARNING: ThreadSanitizer: ")[1:] if code == 66 else [said]
            for report in reports:
                text = f"WARNING: ThreadSanitizer: {report}" if code == 66 else report
                crash = crash_of(text, code, "hangs" if code is None else "")
                shown = f"# {' '.join(map(str, command))}\n"
                findings.crashed(crash, "threads", "threads", f"seed {findings.rounds}", shown)
        findings.rounds += 1
        findings.write()


if __name__ == "__main__":
    run_here(*sys.argv[1:5], int(sys.argv[5]), float(sys.argv[6]))  # type: ignore[arg-type]
