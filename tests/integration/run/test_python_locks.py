"""Locks and Python: code that an object's end runs, and pairs of public functions from two threads.

The rules are in runtime/include/opgen/device/blocking.h.
"""

from __future__ import annotations

import pytest

from support.python_package import gradients_package, run_python

pytestmark = pytest.mark.slow

_COMMON = """
import faulthandler, gc, itertools, sys, threading
import grads as m

faulthandler.dump_traceback_later(600, exit=True)

class Bytes(bytearray):
    "The memory of a tensor. Its end runs `act`."
    act = None
    def __del__(self):
        if self.act is not None:
            self.act()

def tensor_on_bytes(act=None):
    held = Bytes(8)
    held.act = act
    return m.from_numpy(memoryview(held).cast("f"))

class Hook:
    "Its end runs `act`."
    def __init__(self, act=None):
        self.act = act
    def __call__(self, *gradients):
        return None
    def __del__(self):
        if self.act is not None:
            self.act()

class Same(m.autograd.Function):
    @staticmethod
    def forward(ctx, x, act=None):
        ctx.held = Hook(act)
        return x * 1
    @staticmethod
    def backward(ctx, gradient):
        return gradient, None

def leaf():
    return m.tensor([1.0, 2.0], requires_grad=True)

def stale_view(y):
    "A view whose history is made when it is read, because its base has changed."
    view = y.unsqueeze(0)
    y.mul_(m.tensor([1.0, 1.0]))
    return view
"""


def test_the_end_of_an_object_may_call_anything() -> None:
    """Protects a thread from waiting for itself: wherever a hook, a gradient, a tangent or a graph is dropped or
    replaced, a `__del__` calls each function that takes the same locks.
    """
    run_python(
        _COMMON + """
a = leaf()

def other_handles(x):
    "Handles of every kind of hook of the leaf and of its node."
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    return [
        x.register_hook(Hook()), x.register_post_accumulate_grad_hook(Hook()), y.register_hook(Hook()),
        y.grad_fn.register_hook(Hook()), y.grad_fn.register_prehook(Hook()), node.register_hook(Hook()),
    ]

def in_a_level():
    thread = threading.Thread(target=use_level)
    thread.start()
    thread.join()

def use_level():
    with m.autograd.forward_ad.dual_level():
        dual = m.autograd.forward_ad.make_dual(m.tensor([1.0, 2.0]), m.tensor([1.0, 0.0]))
        assert m.autograd.forward_ad.unpack_dual(dual * 2)[1].tolist() == [2.0, 0.0]

ran = []
@m.enable_grad()
def act():
    "Calls each function that takes a lock, of the objects whose locks may be held."
    handles = other_handles(a)
    for handle in handles:
        handle.remove()
    (a * 2).retain_grad()
    a.grad
    a.grad = m.tensor([0.0, 0.0])
    stale_view(a * 2).grad_fn
    for view in kept:
        view.grad_fn
    (a * a).sum().backward(create_graph=True)
    m.autograd.grad((a * a).sum(), a)
    in_a_level()
    m.Generator().manual_seed(3).get_state()
    m.manual_seed(3)
    with m.profile():
        a * 2
    ran.append(True)

kept = []

def remove_each(register):
    register(Hook(act)).remove()

def drop_gradient():
    a.grad = tensor_on_bytes(act)
    a.grad = None

def replace_gradient():
    a.grad = tensor_on_bytes(act)
    a.grad = m.tensor([1.0, 1.0])

def accumulate():
    a.grad = tensor_on_bytes(act)
    (a * 3).sum().backward(create_graph=True)

def accumulate_in_place():
    a.grad = tensor_on_bytes(act)
    (a * 3).sum().backward()
    a.grad = None

def retained_gradient():
    y = a * 2
    y.retain_grad()
    (y * 2).sum().backward(retain_graph=True)
    y.grad = tensor_on_bytes(act)
    (y * 2).sum().backward()

def release_graph():
    y = Same.apply(a, act)
    y.sum().backward()
    del y

def history_of_a_view():
    y = Same.apply(leaf(), act)
    view = y.unsqueeze(0)
    kept.append(stale_view(a * 2))
    y.detach_()
    y.mul_(a)
    view.grad_fn  # drops the former history, the last owner of Same's node
    kept.clear()

def end_of_a_level():
    with m.autograd.forward_ad.dual_level():
        dual = m.autograd.forward_ad.make_dual(m.tensor([1.0, 2.0]), tensor_on_bytes(in_a_level_and_ran))
        keep = [dual]
    keep.clear()

def in_a_level_and_ran():
    in_a_level()
    ran.append(True)

def drop_handle_of_a_dead_graph():
    y = a * 2
    handle = y.register_hook(Hook(act))
    del y
    handle.remove()

y = a * 2
WAYS = [
    lambda: remove_each(a.register_hook),
    lambda: remove_each(a.register_post_accumulate_grad_hook),
    lambda: remove_each(y.register_hook),
    lambda: remove_each(y.grad_fn.register_hook),
    lambda: remove_each(y.grad_fn.register_prehook),
    drop_gradient, replace_gradient, accumulate, accumulate_in_place, retained_gradient, release_graph,
    history_of_a_view, end_of_a_level, drop_handle_of_a_dead_graph,
]
for way in WAYS:
    before = len(ran)
    way()
    gc.collect()
    assert len(ran) > before, way
print(len(WAYS))
""",
        gradients_package(),
    )


def test_each_pair_of_functions_from_two_threads() -> None:
    """Protects threads from waiting for each other: each pair of public functions that take a lock, on the same
    tensors, small ones and such that release the GIL; objects with a `__del__` end in both threads.
    """
    run_python(
        _COMMON + """
sys.setswitchinterval(1e-6)
import warnings

def make(size):
    a = m.zeros(size, dtype=m.float32, requires_grad=True)
    ones = m.zeros(size, dtype=m.float32) + 1
    base = a * 1
    view = base.unsqueeze(0)
    y = a * 2
    handles = [a.register_hook(Hook()), y.grad_fn.register_hook(Hook())]
    generator = m.Generator()
    dual = [None]
    ad = m.autograd.forward_ad

    def drop_one_handle():
        # Both threads may remove the same hook.
        handle = a.register_hook(Hook(lambda: a.grad))
        handles[0].remove()
        handles[0] = handle

    def level():
        with ad.dual_level():
            dual[0] = ad.make_dual(ones, ones)
            dual[0] * ones
        dual[0] = None

    def other_level():
        other = dual[0]
        if other is not None:
            ad.unpack_dual(other)
            repr(other.shape), other * ones

    def gradient():
        a.grad = ones * 2
    def no_gradient():
        a.grad = None
    def seed():
        generator.manual_seed(4)
        generator.set_state(generator.get_state())
    def default_seed():
        m.manual_seed(4)
        generator.seed(), generator.initial_seed(), generator.clone_state()
    def profiled():
        with m.profile() as profile:
            ones * ones
        profile.rows(), profile.table()
    def cast():
        with m.autocast("cpu"):
            ones * ones
    def anomaly():
        with m.autograd.detect_anomaly():
            (a * 2).sum().backward()

    return {
        "tensor hook": lambda: a.register_hook(Hook(lambda: a.grad)).remove(),
        "leaf hook": lambda: a.register_post_accumulate_grad_hook(Hook(lambda: a.grad)).remove(),
        "node hook": lambda: y.grad_fn.register_hook(Hook(lambda: y.grad_fn)).remove(),
        "node prehook": lambda: y.grad_fn.register_prehook(Hook()).remove(),
        "one handle": drop_one_handle,
        "retain_grad": lambda: (y.retain_grad(), y.retains_grad, y.grad),
        "backward": lambda: (a * a).sum().backward(),
        "backward of all": lambda: y.sum().backward(retain_graph=True),
        "backward with a graph": lambda: (a * a).sum().backward(create_graph=True),
        "backward to inputs": lambda: (a * a).sum().backward(inputs=[a]),
        "grad": lambda: m.autograd.grad((a * a).sum(), a),
        "function": lambda: Same.apply(a, lambda: a.grad).sum().backward(),
        "read .grad": lambda: a.grad,
        "write .grad": gradient,
        "delete .grad": no_gradient,
        "history of a view": lambda: (view.grad_fn, view.is_leaf, stale_view(a * 2).grad_fn)
            if size == 2 else view.grad_fn,
        "level": level,
        "another thread's tangent": other_level,
        "generator": seed,
        "default generator": default_seed,
        "profile": profiled,
        "graph": lambda: m.record_graph(lambda x: x * x, ones).replay(ones),
        "autocast": cast,
        "table": lambda: m.dump_table("mul.Tensor"),
        "vmap": lambda: m.vmap(lambda x: x * 2)(ones[:2]),
        "anomaly": anomaly,
    }

def repeat(work, times, start, failed):
    start.wait()
    try:
        for _ in range(times):
            work()
    except BaseException as error:
        failed.append(error)

def pair(first, second, times):
    start, failed = threading.Barrier(2), []
    threads = [threading.Thread(target=repeat, args=(work, times, start, failed)) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed

warnings.simplefilter("ignore")
count = 0
for size, times in ((2, 10), (20_000, 3)):
    functions = make(size)
    for (one, first), (other, second) in itertools.combinations_with_replacement(functions.items(), 2):
        failed = pair(first, second, times)
        assert not failed, (size, one, other, failed)
        count += 1
print(count)
""",
        gradients_package(),
    )
