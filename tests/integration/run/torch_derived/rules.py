"""Check the rules that graphs of generated operators keep: `rules.py LIBRARY`. Each function is one check."""

from __future__ import annotations

import copy
import gc
import os
import re
import socket
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.multiprocessing
from torch import Tensor

torch.ops.load_library(sys.argv[1])
ops: Any = torch.ops.derived


def leaf(*sizes: int) -> Tensor:
    return torch.rand(*sizes, dtype=torch.float64, requires_grad=True)


def fails(call: Callable[[], Any], *texts: str) -> None:
    try:
        call()
    except (RuntimeError, NotImplementedError) as error:
        for text in texts:
            assert re.search(re.escape(text), str(error)), f"{text!r} is not in {error}"
    else:
        raise AssertionError(f"no error with {texts}")


def backward_twice() -> None:
    for call in (ops.cube, ops.grow, lambda x: ops.weigh([x, x], x)):
        y = call(leaf(2)).sum()
        y.backward()
        fails(y.backward, "Trying to backward through the graph a second time")


def saved_and_changed() -> None:
    x = leaf(2)
    middle = x * 1
    y = ops.cube(middle)
    middle.add_(1)
    fails(y.sum().backward, "modified by an inplace operation")
    y = ops.grow(x)
    y.mul_(2)
    fails(y.sum().backward, "modified by an inplace operation")


def leaves_are_not_written() -> None:
    x = leaf(2)
    fails(
        lambda: ops.cube_(x),
        "a leaf Variable that requires grad is being used in an in-place operation",
    )
    fails(lambda: ops.cube_(x[:1]), "a view of a leaf Variable that requires grad")
    fails(lambda: ops.add_to(torch.ones(2), x), "a leaf Variable that requires grad")
    fails(lambda: ops._foreach_scale_([x], 2), "a leaf Variable that requires grad")
    fails(lambda: ops.scale_all_([x], 2.0), "a leaf Variable that requires grad")
    with torch.no_grad():
        ops.cube_(x)
    assert x.grad_fn is None


def out_has_no_gradient() -> None:
    words = "cube(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
    fails(
        lambda: torch.ops.derived.cube.out(leaf(2), out=torch.empty(2, dtype=torch.float64)), words
    )


def no_forward_formula() -> None:
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        for call in (ops.backward_only, lambda x: ops.add_to(x, torch.ones(2))):
            fails(
                lambda call=call: call(dual),
                "Trying to use forward AD with derived::",
                "that does not support it because it has not been implemented yet",
            )


def arguments_without_formula() -> None:
    words = "The function 'count' is not differentiable with respect to argument 'calls'. This input cannot have requires_grad True."
    fails(lambda: ops.count(torch.ones(2), leaf(2).sum()), words)


def outputs_without_gradient() -> None:
    values, indices = ops.largest(leaf(3, 2), 0)
    assert values.requires_grad and not indices.requires_grad and indices.grad_fn is None
    assert not ops.scale_if(leaf(2), 2.0, False).requires_grad
    assert ops.scale_if(leaf(2), 2.0, True).requires_grad


def views_have_history() -> None:
    x = leaf(3)
    view = ops.from_row(x * 1, 1)
    assert view._is_view() and view._base is not None and "FromRow" in view.grad_fn.name()
    base = x * 1
    view = ops.from_row(base, 1)
    view.mul_(3)
    base.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 3, 3]
    view = ops.from_row(torch.zeros(3, dtype=torch.float64), 1)
    ops.mul_(view, leaf(2))
    assert view._base is not None and view._base.requires_grad


def several_views() -> None:
    """Several views are views: with the base, the version and the errors of PyTorch's split."""
    x = leaf(4, 2)
    base = torch.zeros(4, 2, dtype=torch.float64)
    for view in (ops.halves, lambda t: t.split(2)):

        def write_one(view: Any = view) -> None:
            first, second = view(x * 1)
            first.mul_(2)
            second.sum().backward()

        def write_base(view: Any = view) -> None:
            y = x * 1
            first, _ = view(y)
            y.mul_(2)
            first.sum().backward()

        def write_of_no_grad(view: Any = view) -> None:
            y = x * 1
            with torch.no_grad():
                first, _ = view(y)
            first.mul_(2)

        fails(write_one, "returns multiple views")
        fails(write_base, "returns multiple views")
        fails(write_of_no_grad, "A view was created in no_grad mode")
        first, second = view(base)
        assert first._base is base and second._is_view()
        version = second._version
        first.add_(1)
        assert second._version == version + 1
        first, second = view(x * 1)
        (gradient,) = torch.autograd.grad((first + 2 * second).sum(), x)
        assert gradient[:2].eq(1).all() and gradient[2:].eq(2).all()


def only_what_is_needed_is_saved() -> None:
    x, constant = leaf(2), torch.ones(2, dtype=torch.float64)
    packed: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        packed.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = ops.mul(x, constant)
        assert len([t for t in packed if t.numel()]) == 1, packed
        y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 1]


def versions_are_counted() -> None:
    x = torch.ones(2)
    for call in (
        lambda: ops.cube_(x),
        lambda: ops.add_to(torch.ones(2), x),
        lambda: ops.count(torch.ones(2), x),
    ):
        before = x._version
        call()
        assert x._version == before + 1, (before, x._version)


def nothing_leaks() -> None:
    class Watch:
        pass

    for call in (
        ops.cube,
        ops.grow,
        lambda x: ops.grow_(x * 1),
        lambda x: ops.grow_((x * 1)[1:]),
        lambda x: ops.powers(x, 2)[0],
        lambda x: ops.mul_(x * 1, x),
        lambda x: ops.polar(x, x)[0],
    ):
        x = leaf(3)
        y = call(x)
        watch = Watch()
        y.grad_fn.metadata["watch"] = watch
        gone = weakref.ref(watch)
        del x, y, watch
        gc.collect()
        assert gone() is None, call


def deep_graphs() -> None:
    """Check that a graph of 200,000 nodes is freed without recursion."""
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(200_000):
        y = ops.backward_only(y)
    del y


def hooks() -> None:
    x = leaf(2)
    seen: list[str] = []
    y = ops.cube(x)
    assert y.grad_fn.name() == "CubeBackward0"
    y.register_hook(lambda gradient: (seen.append("tensor"), gradient * 2)[1])
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(f"{len(inputs)} {len(outputs)}"))
    y.grad_fn.register_prehook(lambda outputs: seen.append("before"))
    y.retain_grad()
    y.sum().backward()
    assert set(seen) == {"tensor", "1 1", "before"} and y.grad is not None
    torch.testing.assert_close(x.grad, 6 * x.detach() ** 2)


def undefined_gradients() -> None:
    r, t = leaf(2), leaf(2)
    x, y = ops.polar(r, t)
    (gradient,) = torch.autograd.grad(y.sum(), t)
    torch.testing.assert_close(gradient, (r * t.cos()).detach())
    node = x.grad_fn
    assert all(g is None for g in node(None, None)), "no gradient in, none out"


def anomaly_names_the_operator() -> None:
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        y = ops.mul(x, torch.full((2,), float("inf"), dtype=torch.float64)) * 0
        fails(y.sum().backward, "MulBackward0", "nan")
    assert any("MulBackward0" in str(each.message) for each in caught)


def threads() -> None:
    x = leaf(64)
    y = ops.mul(ops.grow(ops.cube(x)), x).sum()
    (expected,) = torch.autograd.grad(y, x, retain_graph=True)
    wrong: list[object] = []

    def work() -> None:
        for _ in range(50):
            (gradient,) = torch.autograd.grad(y, x, retain_graph=True)
            if not torch.equal(gradient, expected):
                wrong.append(gradient)

    workers = [threading.Thread(target=work) for _ in range(4)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    assert not wrong


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 1, 4))
        self.bias = torch.nn.Parameter(torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        return ops.cube(ops.affine(x, self.weight, self.bias))


def modules() -> None:
    one = Model()
    other = copy.deepcopy(one)
    for model in (one, other):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    torch.testing.assert_close(list(one.parameters()), list(other.parameters()))


def autocast() -> None:
    x = torch.rand(3, 3, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = ops.cube(x @ x)
        assert y.dtype == torch.bfloat16
    y.float().sum().backward()
    assert x.grad is not None and x.grad.dtype == torch.float32


def opcheck() -> None:
    x, y = leaf(3), leaf(3)
    samples = (
        (ops.cube.default, (x,)),
        (ops.grow.default, (x,)),
        (ops.mul.Tensor, (x, y)),
        (ops.polar.default, (x, y)),
        (ops.weigh.default, ([x, y], y)),
        (ops.powers.default, (x, 3)),
        (ops.affine.default, (x, None, y)),
        (ops.stretch.default, (leaf(3, 1), [3, 4])),
        (ops._foreach_scale.default, ([x, y], 2.0)),
        (ops.cube_.default, (x * 1,)),
        (ops.mul_.Tensor, (x * 1, y)),
        (ops._foreach_scale_.default, ([x * 1, y * 1], 2.0)),
        (ops.count.default, (x, torch.zeros(()))),
        (ops.pick.default, (x, torch.tensor([0, 1]))),
        (ops.largest.default, (x, 0)),
        (ops.total.default, (x,)),
        (ops.scale_if.default, (x, 2.0, True)),
        (ops.backward_only.default, (x,)),
    )
    wrong = []
    for operator, arguments in samples:
        for test, outcome in torch.library.opcheck(
            operator, arguments, raise_exception=False
        ).items():
            if outcome != "SUCCESS":
                wrong.append(f"{operator} {test}: {' '.join(str(outcome).split())[:300]}")
    assert not wrong, "\n".join(wrong)


def inductor() -> None:
    """Train with inductor, dynamic sizes and one graph: gradients are those of eager mode."""

    def step(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
        first, second = ops.polar(ops.cube(x), ops.grow(y))
        third, fourth = ops._foreach_scale([first, second], 0.5)
        scaled = ops.weigh([third, fourth], w) + ops.powers(w, 2)[1]
        total = (
            ops.mul_(scaled * 1, w) + ops.largest(ops.stretch(ops.total(x), [3, x.size(0)]), 0)[0]
        )
        return (ops.affine(total, w, None) + ops.from_row(total.repeat(2), total.size(0))).sum()

    compiled = torch.compile(step, fullgraph=True, dynamic=True)
    for size in (4, 7):
        inputs = tuple(leaf(size) for _ in range(3))
        eager = torch.autograd.grad(step(*inputs), inputs)
        torch.testing.assert_close(torch.autograd.grad(compiled(*inputs), inputs), eager)


def distributed_worker(rank: int, port: int, library: str) -> None:
    torch.ops.load_library(library)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(Model())
    model(torch.full((2, 4), float(rank + 1))).sum().backward()
    alone = Model()
    expected = []
    for each in (1.0, 2.0):
        alone.zero_grad()
        alone(torch.full((2, 4), each)).sum().backward()
        expected.append([p.grad.clone() for p in alone.parameters()])
    for parameter, one, other in zip(model.parameters(), *expected, strict=True):
        torch.testing.assert_close(parameter.grad, (one + other) / 2)
    torch.distributed.destroy_process_group()


def distributed() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(distributed_worker, (port, sys.argv[1]), nprocs=2)


CHECKS = (
    backward_twice,
    saved_and_changed,
    leaves_are_not_written,
    out_has_no_gradient,
    no_forward_formula,
    arguments_without_formula,
    outputs_without_gradient,
    views_have_history,
    several_views,
    only_what_is_needed_is_saved,
    versions_are_counted,
    nothing_leaks,
    deep_graphs,
    hooks,
    undefined_gradients,
    anomaly_names_the_operator,
    threads,
    modules,
    autocast,
    opcheck,
    inductor,
    distributed,
)


def main() -> int:
    failed = 0
    chosen = [check for check in CHECKS if not sys.argv[2:] or check.__name__ in sys.argv[2:]]
    for check in chosen:
        try:
            check()
        except Exception:
            failed += 1
            print(f"{check.__name__}: {traceback.format_exc()}")
    print(f"{len(chosen) - failed} of {len(chosen)} rules kept")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
