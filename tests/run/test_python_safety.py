"""A library called from Python for long, from many threads, and while Python ends."""

from __future__ import annotations

import pytest

from support.python_package import calls_package, run_python

# Every form of call: what is made, written, counted, refused before the call and by the kernel.
_FORMS = """
import ctypes, gc, os, sys
import calls

a = calls.tensor([1.0, 2.0, 3.0], dtype=calls.float64)
o = calls.zeros(3, dtype=float)
many, pair, boxed = [a] * 5, (o, calls.zeros(3, dtype=float)), calls.tensor(2.0)

def refused(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError("no exception")

FORMS = {
    "functional": lambda: calls.add(a, a),
    "a number for a tensor": lambda: calls.add(a, 1.5),
    "out": lambda: calls.add(a, a, out=o),
    "in place": lambda: o.add_(a, alpha=0),
    "method": lambda: a.add(a, alpha=2),
    "operator": lambda: (1 + a) + boxed,
    "factory": lambda: calls.zeros(2, 3, dtype="float64", device="cpu"),
    "itself": lambda: a.same(),
    "named tuple": lambda: calls.extremes(a).low,
    "named tuple, out": lambda: calls.extremes(a, out=pair),
    "list of results": lambda: a.halves(),
    "list of arguments": lambda: calls.describe(many, [None, a]),
    "long lists": lambda: calls.describe((5, 6), more=[1] * 50, floats=[2, 3.5]),
    "in place, of a list": lambda: calls._foreach_double_([o]),
    "no fit": lambda: refused(TypeError, lambda: calls.add(a, "x", beta=1)),
    "refused": lambda: refused(ValueError, lambda: calls.refuse(a, 1)),
    "view": lambda: a[1:][0],
    "list": lambda: calls.tensor(a.tolist()),
}
OBJECTS = [a, o, pair[1], boxed, None, calls.Tensor, calls.float64, type(calls.extremes(a))]

def resident():
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def state():
    gc.collect()
    return [sys.getallocatedblocks()] + [sys.getrefcount(one) for one in OBJECTS]

def repeat(call, times):
    for _ in range(times):
        call()

def check(times, slack):
    for name, call in FORMS.items():
        repeat(call, 200)
        before, bytes_before = state(), resident()
        repeat(call, times)
        grown = [now - then for now, then in zip(state(), before)]
        assert max(map(abs, grown)) < 20, (name, grown)
        bytes_grown = resident() - bytes_before
        assert bytes_grown < slack, (name, bytes_grown)
"""


@pytest.mark.slow
def test_no_form_of_call_keeps_anything() -> None:
    """Protects long runs: per call, not a hundredth of a reference and not a block of memory stay."""
    run_python(_FORMS + "\ncheck(3_000, 1 << 20)\n", calls_package())


@pytest.mark.nightly
def test_no_form_of_call_keeps_anything_over_a_million_calls() -> None:
    """The same with a million calls of each form: less than two bytes a call."""
    run_python(_FORMS + "\ncheck(1_000_000, 2 << 20)\n", calls_package())


@pytest.mark.slow
def test_calls_of_every_form_from_many_threads() -> None:
    """Protects what calls share: kept wrappers, the dispatcher's tables, tensors of several threads."""
    program = """
from concurrent.futures import ThreadPoolExecutor
sys.setswitchinterval(1e-6)
large = calls.tensor([1.0] * 20_000, dtype=calls.float64)

def work(seed):
    own, total = calls.zeros(3, dtype=float), calls.zeros(20_000, dtype=float)
    for i in range(60):
        own += a
        assert calls.add(own, own, alpha=seed)[1].item() == (i + 1) * 2 * (1 + seed)
        total += large  # the GIL is released
        assert calls.add(total, large, out=total) is total
        refused(TypeError, lambda: calls.add(own, "x"))
        refused(ValueError, lambda: calls.refuse(own, 1))
        low, high = calls.extremes(own)
        assert low is own and high.tolist() == own.tolist()
    assert total.tolist() == [120.0] * 20_000
    return own.tolist()

with ThreadPoolExecutor(8) as pool:
    assert list(pool.map(work, range(16))) == [[60.0, 120.0, 180.0]] * 16
before = a.tolist()
with ThreadPoolExecutor(8) as pool:
    for future in [pool.submit(repeat, call, 100) for call in FORMS.values() for _ in range(2)]:
        future.result()
assert a.tolist() == before
"""
    run_python(_FORMS + program, calls_package())


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 200_000])
def test_python_ends_while_threads_call(size: int) -> None:
    """Protects the end of a process: threads are inside of calls, with the GIL released or held."""
    program = f"""
import threading, time
large = calls.zeros({size}, dtype=float)

def forever():
    while True:
        calls.add(large, large)
        large.add_(large)
        calls.add(large, 1, out=calls.zeros({size}, dtype=float))

for _ in range(6):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.1)
"""
    for _ in range(5):
        run_python(_FORMS + program, calls_package())


@pytest.mark.slow
def test_a_list_of_outs_may_lose_them_during_the_call() -> None:
    """Protects memory: what is written to lives as long as the call, whatever other threads do."""
    program = """
import threading
done = False

def clear():
    while not done:
        outs[:] = []

outs = []
thread = threading.Thread(target=clear)
thread.start()
large = calls.zeros(50_000, dtype=float)
for _ in range(200):
    outs[:] = [calls.zeros(50_000, dtype=float), calls.zeros(50_000, dtype=float)]
    try:
        calls.extremes(large, out=outs)
    except TypeError:
        pass
done = True
thread.join()

class Shortens:
    def __index__(self):
        sizes.clear()
        return 1

sizes = [Shortens(), 2, 3]
refused(TypeError, lambda: calls.zeros(sizes))
"""
    run_python(_FORMS + program, calls_package())
