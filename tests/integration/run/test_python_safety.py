"""A library called from Python for a long time, from many threads, and while Python shuts down."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.build import link_library
from support.interpreters import venv_of
from support.python_package import PYTHON, calls_package, run_python

# Every form of call: results, writes, references, and calls rejected by the parser and by the
# kernel.
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
    """Protects long runs: each call leaks less than a hundredth of a reference, and no block of memory."""
    run_python(_FORMS + "\ncheck(3_000, 1 << 20)\n", calls_package())


@pytest.mark.nightly
def test_no_form_of_call_keeps_anything_over_a_million_calls() -> None:
    """The same with a million calls of each form: less than two bytes per call."""
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
    """Protects memory: written tensors live as long as the call, whatever other threads do."""
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

"""
    run_python(_FORMS + program, calls_package())


# Objects whose methods change the arguments while the call reads them.
_CHANGES = """
import copy

class Does:
    def __init__(self, act, value=1):
        self.act, self.value = act, value
    def __index__(self):
        self.act()
        gc.collect()
        return self.value
    def __float__(self):
        return float(self.__index__())

def clears(*items):
    one = []
    one[:] = [Does(one.clear), *items]
    return one
"""


@pytest.mark.slow
def test_lists_that_change_while_they_are_read() -> None:
    """Protects memory: the contents of a list when it is read count, whatever its items' methods do to it."""
    program = """
assert calls.zeros(clears(2, 3)).shape == (1, 2, 3)
assert calls.zeros([Does(lambda: None), 2]).shape == (1, 2)
calls.describe(clears(2), more=clears(3, 4), floats=clears(0.5))
refused(TypeError, lambda: calls.zeros(clears("x")))

nested = []
nested[:] = [[Does(nested.clear), 2], [3, 4]]
assert calls.tensor(nested).tolist() == [[1, 2], [3, 4]]
assert calls.tensor([clears(2), [3, 4]]).tolist() == [[1, 2], [3, 4]]
rows = [[Does(lambda: rows[1].append(5)), 2], [3, 4]]
refused(ValueError, lambda: calls.tensor(rows))
rows = [[Does(lambda: rows.pop()), 2], [3, 4]]
assert calls.tensor(rows).tolist() == [[1, 2], [3, 4]]

written = calls.zeros(3, dtype=float)
written[:] = clears(2, 3)
assert written.tolist() == [1, 2, 3]
refused(NotImplementedError, lambda: written[clears(2)])  # there is no operator index here
assert written[Does(lambda: None)].item() == 2

both = lambda a, b: calls.add(a, b)
assert calls._vmap_call(both, [Does(lambda: None, 0), 0], 0, False, written, written).shape == (3,)
dims = clears(0)
dims[0].value = 0
assert calls._vmap_call(both, dims, 0, False, written, written).tolist() == [2, 4, 6]
"""
    run_python(_FORMS + _CHANGES + program, calls_package())


@pytest.mark.slow
def test_a_list_that_another_thread_changes() -> None:
    """Protects memory: while an __index__ runs, other threads run, too."""
    program = """
import threading
sys.setswitchinterval(1e-6)
done = False
shared = []

def change():
    while not done:
        shared[:] = [Does(int, 1) for _ in range(5)]
        shared.clear()

class Slow:
    def __index__(self):
        return sum(range(50)) * 0 + 1

def fill():
    while not done:
        shared[:] = [Slow() for _ in range(20)]

threads = [threading.Thread(target=work) for work in (change, fill)]
for thread in threads:
    thread.start()
for _ in range(300):
    for call in (calls.tensor, calls.zeros):
        try:
            call(shared)
        except (TypeError, ValueError):
            pass
done = True
for thread in threads:
    thread.join()
"""
    run_python(_FORMS + _CHANGES.replace("        gc.collect()\n", "") + program, calls_package())


@pytest.mark.slow
def test_results_of_python_methods_are_checked() -> None:
    """Protects memory where Python code determines a value: a memo, a capsule, a truth value, an argument left out."""
    program = """
for count in range(4):
    refused(TypeError, lambda: calls._vmap_call(*[0] * count))

held = a.storage()
refused(TypeError, lambda: copy.deepcopy(a, {id(held): 5}))

class Untrue:
    def __bool__(self):
        raise KeyError
refused(KeyError, lambda: a.__array__(copy=Untrue()))

class Producer:
    def __dlpack_device__(self):
        return self.device
    def __dlpack__(self, **options):
        return self.capsule
one = Producer()
one.device, one.capsule = [1, 0], 5
refused(TypeError, lambda: calls.from_dlpack(one))
one.device = (1, 0)
refused(ValueError, lambda: calls.from_dlpack(one))
"""
    run_python(_FORMS + _CHANGES + program, calls_package())


@pytest.mark.slow
def test_finalizers_that_run_while_a_list_is_made() -> None:
    """Protects tolist(): before Python 3.12 the garbage collector, and thus any __del__, may run whenever a list is
    made.
    """
    program = """
class Meddles:
    def __init__(self):
        self.me = self
    def __del__(self):
        for one in gc.get_objects():
            if type(one) is list and len(one) == 77:
                one.clear()
        big.add_(1)

big = calls.zeros(77, 5, dtype=float)
for _ in range(20):
    for _ in range(5):
        Meddles()
    gc.set_threshold(3)
    rows = big.tolist()
    gc.set_threshold(700)
    assert len({value for row in rows for value in row}) == 1
"""
    run_python(_FORMS + program, calls_package())


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(None, marks=pytest.mark.slow),
        pytest.param("3.12", marks=pytest.mark.nightly),
        pytest.param("3.13", marks=pytest.mark.nightly),
    ],
)
def test_a_second_interpreter_of_a_process_is_rejected(version: str | None) -> None:
    """Protects class Tensor, of which a process has one: its objects must not get into an interpreter with another
    GIL.
    """
    python = PYTHON if version is None else venv_of(version)
    program = """
import calls, sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
lines = f"import sys; sys.path[:] = {sys.path}\\n" + '''
try:
    import calls
except ImportError as error:
    print(error)
'''
one = interpreters.create()
if hasattr(interpreters, "run_string"):
    failed = interpreters.run_string(one, lines)
    assert failed is None, failed
interpreters.destroy(one)
print(calls.zeros(2).tolist())
"""
    said = run_python(program, calls_package(python), python=python).splitlines()
    assert "does not support loading in subinterpreters" in said[0]
    assert said[1:] == ["[0.0, 0.0]"]


@pytest.mark.slow
def test_a_warning_while_a_library_is_loaded_is_raised_after_it(tmp_path: Path) -> None:
    """Protects the process if warnings are errors: an exception during the initialisation of a library would end it."""
    source = tmp_path / "replaces.cpp"
    source.write_text("""#include <opgen/library.h>
        static void count(const opgen::OperatorHandle&, opgen::DispatchKeySet, opgen::Stack&) {}
        OPGEN_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
          m.impl("count", opgen::CppFunction::makeFromBoxedFunction(&count));
        }
        """)
    library = link_library("replaces", tmp_path, [source], [])
    program = f"""
import calls, ctypes, warnings
warnings.simplefilter("error")
try:
    ctypes.CDLL({str(library)!r})
    for _ in range(1000):
        pass
except UserWarning as warning:
    print(warning)
"""
    assert "aten::count: the kernel for CompositeImplicitAutograd" in run_python(
        program, calls_package()
    )
