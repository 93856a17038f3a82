"""Results as objects, the GIL, memory, and how calls end."""

from __future__ import annotations

import copy
import ctypes
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from opgen.gradtest.backends import first_line
from opgen.verify.backends.base import Described
from opgen.verify.caller import Case, Finding, NotApplicable, NotTested, Outcome, Property, leaves
from opgen.verify.calls.specs import ITEMSIZES, at, tensors
from opgen.verify.properties.common import enlarged
from opgen.verify.subjects import RETURNS_TENSORS, TAKES_TENSORS, Need

# Calls that are repeated to see whether memory grows, and how much of it counts for one call.
_REPEATED = 30
_GROWTH = 16
# A result may keep so many more bytes than it needs.
_ROOM = 1 << 16
# A call that takes so long, in seconds, has let other threads run.
_LONG = 0.02
# opgen's packages keep the GIL during calls on fewer elements, most of which take no longer than to acquire it again.
_RELEASED = 1 << 14
_GIL_ELEMENTS = (1 << 16, 1 << 20)
# A thread that counts so often during a call gets on; one that waits for the GIL so many times as often as it counts is held
# up: what it does when it has no core counts as neither. So many calls of one kind decide, of at most so many; those in
# which it is held up, with so many waits.
_FEW_STEPS = 10
_FREE, _HELD, _MANY_WAITS, _GIL_CALLS, _MOST_GIL_CALLS = 3, 5, 500, 20, 200


def _copying(case: Case) -> Iterator[Finding]:
    case.need_accepted(case.base)
    found = case.run()
    case.need_accepted(found)
    backend = case.backend
    for label, value in leaves(case.subject, found.returned):
        if not backend.is_tensor(value):
            continue
        before = case.caller.result(label, value)
        numbers, described = before.elements, before.described
        if numbers is not None and numbers.dtype == bool and (numbers.view(np.uint8) > 1).any():
            yield case.finding(f"{label} has bytes other than 0 and 1 as elements of bool")
        if described is not None and _is_held(described, case, found):
            text = f"{label} keeps {described.storage_bytes} bytes of memory, of which it needs few"
            yield case.finding(text)
        for what, copied in (
            ("a deep copy", copy.deepcopy),
            ("what is read from a pickle", backend.pickled),
        ):
            try:
                after = case.caller.result(label, copied(value))
            except Exception as error:
                yield case.finding(f"{label} cannot be copied or pickled: {first_line(error)}")
            yield from case.unlike(f"{what}: ", [after], [before], exact=True, strides=True)


def _is_held(described: Described, case: Case, found: Outcome) -> bool:
    """Whether a result is a small part of a large storage, which is not that of an argument."""
    needed = int(np.prod(described.shape)) * ITEMSIZES.get(described.dtype, 16)
    if described.storage_bytes <= _ROOM + 16 * needed:
        return False
    given = [case.backend.describe(at(found.given, place)) for place in case.tensors()]
    return all(argument.storage != described.storage for argument in given)


def _gil(case: Case) -> Iterator[Finding]:
    """A thread that counts gets on while the operator works."""
    case.need(not case.subject.outs, "the functional variant is tested")
    for count in _GIL_ELEMENTS:
        call = enlarged(case, count)
        if call is None or max(spec.count for spec in tensors(call)) < _RELEASED:
            raise NotTested("no size can grow, or calls that are not large take long")
        given = case.caller.build(call)

        def work(given: Any = given) -> None:
            case.caller.progress()
            try:
                case.subject.call(given)
            except Exception as error:
                raise NotTested(f"it refuses large inputs: {first_line(error)}") from None

        work()
        free = held = waited = calls = 0
        with _Counter() as counter:
            # Short calls are made again if the thread is held up in most of them.
            while calls < (_MOST_GIL_CALLS if 2 * held > calls else _GIL_CALLS):
                calls += 1
                seconds, steps, waits = counter.during(work)
                free += steps >= _FEW_STEPS
                if waits > _FEW_STEPS * steps:
                    held += 1
                    waited += waits
                if free == _FREE:
                    return
                if held >= _HELD and waited >= _MANY_WAITS:
                    yield case.finding(
                        f"a call of {seconds * 1e3:.1f} ms lets no other thread of Python run", call
                    )
    case.need(seconds <= _LONG, "the machine is too busy to tell")
    raise NotApplicable("no call takes long, so that other threads wait little")


class _Counter:
    """A thread that counts."""

    def __enter__(self) -> _Counter:
        self.steps = 0
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._count_on)
        self._thread.start()
        return self

    def _count_on(self) -> None:
        while not self._done.is_set():
            self.steps += 1
            time.sleep(0)

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        sys.setswitchinterval(self._interval)

    def during(self, work: Callable[[], None]) -> tuple[float, int, int]:
        """Return how many seconds some work takes, how far the thread has counted meanwhile, and how often it has waited."""
        waits, before, begun = self._waits(), self.steps, time.perf_counter()
        work()
        seconds, steps = time.perf_counter() - begun, self.steps - before
        return seconds, steps, self._waits() - waits

    def _waits(self) -> int:
        """Return how often the thread has given up its core to wait, which it does for the GIL; 0 if the system does not tell."""
        try:
            with open(f"/proc/self/task/{self._thread.native_id}/status", encoding="ascii") as file:
                _, _, rest = file.read().partition("\nvoluntary_ctxt_switches:")
        except OSError:
            return 0
        return int(rest.split()[0]) if rest else 0


_FUNCTIONAL: tuple[Need, ...] = (
    (lambda s: not s.is_out, "the functional variant is tested"),
    TAKES_TENSORS,
)


class _Mallinfo2(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks"),
            *("uordblks", "fordblks", "keepcost"),
        )
    )


@functools.cache
def _mallinfo() -> Callable[[], _Mallinfo2] | None:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return None
    libc.mallinfo2.restype = _Mallinfo2
    found: Callable[[], _Mallinfo2] = libc.mallinfo2
    return found


def _bytes_in_use() -> int:
    """Return the bytes that the C library has given away; 0 if it does not tell."""
    ask = _mallinfo()
    found = ask and ask()
    return int(found.uordblks + found.hblkhd) if found else 0


def _memory(case: Case) -> Iterator[Finding]:
    # PyTorch's tensors are blocks of the C library; the runtime keeps small ones in pools.
    guard = case.caller.guard if case.backend.kind == "runtime" else None
    caller, subject = case.caller, case.subject
    case.need_accepted(case.base)

    def repeat(times: int) -> None:
        for _ in range(times):
            caller.progress()
            given = caller.build(case.call)
            returned = subject.call(given)
            del given, returned

    repeat(8)
    _bytes_in_use()
    grown, blocks = [], []
    for _ in range(3):
        used, live = _bytes_in_use(), 0
        if guard is not None:
            case.backend.watch_memory(True)
            live = guard.live_blocks()
        try:
            repeat(_REPEATED)
        finally:
            if guard is not None:
                case.backend.watch_memory(False)
        blocks.append(0 if guard is None else guard.live_blocks() - live)
        grown.append(_bytes_in_use() - used)
    if min(blocks) >= _REPEATED - 2:
        yield case.finding(f"{_REPEATED} calls leave {min(blocks)} tensors behind")
    elif min(grown) >= _GROWTH * _REPEATED:
        yield case.finding(f"{_REPEATED} calls leave {min(grown)} bytes behind")


# Failed assertions, and exceptions of C++'s library that kernels did not mean to throw.
_INTERNAL = (
    *("INTERNAL ASSERT FAILED", "unknown exception", "Caught an unknown", "internal error"),
    *("bad optional access", "bad_optional_access", "_M_range_check", "vector::", "basic_string::"),
    *("map::at", "bad_function_call", "bad_variant_access", "std::get: wrong index"),
)


def _internal_error(case: Case) -> Iterator[Finding]:
    found = case.run() if case.backend.framework else case.base
    if found.error is None:
        if refusal := case.backend.failure():
            text = f"{case.backend.framework} refuses what the library accepts: {refusal}"
            yield case.finding(text)
        return
    text = f"{type(found.error).__name__}: {found.error}"
    if isinstance(found.error, SystemError) or any(words in text for words in _INTERNAL):
        yield case.finding(f"refuses a call by a failed assertion: {found.message}")


def _nothing(case: Case) -> Iterator[Finding]:
    """The runner reports processes that end, and calls that do not."""
    case.run()
    yield from ()


CRASH, HANG = "crash", "hang"


PROPERTIES = (
    Property("V0180", _copying, (RETURNS_TENSORS,), quickly=2, enough=6),
    Property("V0181", _gil, _FUNCTIONAL, quickly=1, enough=1, mode="default", cost=50),
    Property("V0182", _memory, _FUNCTIONAL, quickly=1, enough=2, cost=3),
    Property("V0190", _nothing, quickly=4, enough=40, refused="also"),
    Property("V0191", _nothing, quickly=4, enough=40, refused="also"),
    Property("V0192", _internal_error, quickly=40, enough=100, refused="also"),
)
