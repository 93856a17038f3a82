"""Check the gradients of a package for torch-stable beside those of PyTorch's functions, and the errors without a formula.

Arguments: the library, and the names of checks.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.library import opcheck

sys.path.insert(0, str(Path(__file__).parents[1] / "torch_gradients"))
sys.path.insert(0, str(Path(__file__).parents[4] / "examples" / "gradients" / "tests"))

from reference import cases
from transforms import as_function, check_backward, check_func, operator


def expect_error(call: Callable[[], Any], kind: type[Exception], words: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except kind as error:
        assert words in str(error), f"{error!r} lacks {words!r}"
        return
    raise AssertionError(f"no {kind.__name__} with {words!r}")


def leaf(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, dtype=torch.float64, requires_grad=True)


def formulas() -> None:
    """All operators that have the same formulas as in the example: backward, torch.func, inductor, in-place variants."""
    for name in cases():
        if name in ("weighted_total",):
            continue
        check_backward(name)
        check_func(name)
        g, inputs = as_function(operator(name), name)
        leaves = [t.detach().clone().requires_grad_() for t in inputs]
        if all(t.dtype == torch.float64 for t in leaves):
            assert torch.autograd.gradcheck(g, leaves), name
    ops = torch.ops.graded
    for inplace, functional in ((ops.bump_, ops.bump), (ops.squash_, ops.squash)):
        x = leaf(3, 4)
        changed = x * 1
        assert inplace(changed) is changed
        (gradient,) = torch.autograd.grad(changed.square().sum(), x)
        (expected,) = torch.autograd.grad(functional(x).square().sum(), x)
        torch.testing.assert_close(gradient, expected)
        words = "a leaf Variable that requires grad"
        expect_error(partial(inplace, leaf(2)), RuntimeError, words)
    x = leaf(4)
    assert ops.scaled(x, 2.5).grad_fn.name() == "ScaledBackward"
    (gradient,) = torch.autograd.grad(ops.scaled(x, 2.5).sum(), x)
    assert (gradient == 2.5).all()
    words = "the derivative for 'scaled' is not implemented. of nothing (in a formula of graded::scaled)"
    expect_error(lambda: ops.scaled(x, 2, 0).sum().backward(), NotImplementedError, words)
    x = leaf(3)
    assert torch.autograd.gradgradcheck(ops.bump, (x,)) and torch.autograd.gradgradcheck(
        ops.sin_cos, (x,)
    )


def second_order_is_recorded() -> None:
    """A second derivative through an operator without a formula for it is an error."""
    x = leaf(4, 6)
    (gradient,) = torch.autograd.grad(
        torch.ops.graded.rms_norm(x, None).sum(), x, create_graph=True
    )
    words = "derivative for graded::rms_norm_backward is not implemented"
    expect_error(lambda: gradient.sum().backward(), RuntimeError, words)


def without_formula() -> None:
    """Operators without a formula: an error in the backward pass and in forward mode, never a gradient of zero."""
    ops = torch.ops.graded
    words = "derivative for graded::plain is not implemented"
    x = leaf(4)
    assert ops.nested(x)[0][0].grad_fn.name() == "NestedBackward"
    out = ops.plain(x)
    assert out.requires_grad
    expect_error(lambda: out.sum().backward(), RuntimeError, words)
    assert x.grad is None
    expect_error(
        lambda: torch.func.grad(lambda t: ops.plain(t).sum())(x.detach()),
        RuntimeError,
        words,
    )
    with torch.no_grad():
        assert not ops.plain(x).requires_grad
    assert not ops.plain(x.detach()).requires_grad

    written = torch.zeros(4, dtype=torch.float64)
    ops.plain_into(x, written)
    words = "derivative for graded::plain_into is not implemented"
    expect_error(lambda: written.sum().backward(), RuntimeError, words)
    changed = x * 1
    version = changed._version
    ops.plain_(changed)
    assert changed._version > version
    torch.testing.assert_close(changed, 3 * x)
    words = "derivative for graded::plain_ is not implemented"
    expect_error(lambda: changed.sum().backward(), RuntimeError, words)
    expect_error(lambda: ops.plain_(x), RuntimeError, "a leaf Variable that requires grad")

    words = "don't support automatic differentiation"
    expect_error(lambda: ops.bump.out(x, out=torch.empty_like(x)), RuntimeError, words)
    with torch.no_grad():
        ops.bump.out(x, out=torch.empty_like(x))

    sign = ops.sign_of(x)
    assert not sign.requires_grad

    calls: dict[str, Callable[[torch.Tensor], Any]] = {
        "given": lambda x: ops.given([None, x]),
        "gaps": lambda x: ops.gaps(x)[1],
        "nested": lambda x: ops.nested(x)[1][0],
    }
    for name, call in calls.items():
        words = f"derivative for graded::{name} is not implemented"
        expect_error(lambda call=call: call(leaf(2)).sum().backward(), RuntimeError, words)
        grad = torch.func.grad(lambda x, call=call: call(x).sum())
        expect_error(lambda grad=grad: grad(leaf(2).detach()), RuntimeError, words)


def arguments_without_formula() -> None:
    """Of an operator with formulas, an argument without one must not require a gradient, as for target torch."""
    ops = torch.ops.graded
    x, number = leaf(3), torch.tensor(5.0, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(ops.product_by(x, number).sum(), x)
    assert gradient.tolist() == [5.0, 5.0, 5.0]
    words = "The function 'product_by' is not differentiable with respect to argument 'other'"
    number.requires_grad_()
    for first in (x, x.detach()):
        expect_error(lambda first=first: ops.product_by(first, number), RuntimeError, words)
    with torch.no_grad():
        ops.product_by(x, number)

    # A list of optional tensors requires a gradient if one of them does, wherever the others are None.
    for place in (0, 1):
        parts = [None, None]
        parts[place] = x
        (gradient,) = torch.autograd.grad(ops.sum_given(parts).sum(), x)
        assert gradient.tolist() == [1.0, 1.0, 1.0]


def forward_mode() -> None:
    """Every operator refuses tangents, with and without formulas."""
    ops = torch.ops.graded
    x = torch.randn(4, dtype=torch.float64)
    calls: dict[str, Callable[[torch.Tensor], Any]] = {
        "plain": ops.plain,
        "plain_": lambda t: ops.plain_(t * 1),
        "bump": ops.bump,
        "scaled": lambda t: ops.scaled(t, 2),
        "bump.out": lambda t: ops.bump.out(t, out=torch.empty_like(x)),
    }
    for name, call in calls.items():
        words = f"Trying to use forward AD with graded::{name} that does not support it"
        # C++ cannot raise NotImplementedError, which is a RuntimeError.
        kind = RuntimeError if name == "plain" else NotImplementedError
        for requires in (False, True):
            given = x.clone().requires_grad_(requires)
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(given, torch.ones_like(x))
                expect_error(lambda call=call, dual=dual: call(dual), kind, words)
        expect_error(
            lambda call=call: torch.func.jvp(call, (x,), (torch.ones_like(x),)),
            kind,
            words,
        )
    with forward_ad.dual_level():
        ops.plain(x)
    _, tangent = torch.func.jvp(ops.every_other, (x,), (torch.arange(4.0, dtype=torch.float64),))
    assert tangent.tolist() == [0, 2]


def views() -> None:
    """A view without a formula: PyTorch's own gradient, also after writes."""
    view = torch.ops.graded.every_other
    x = leaf(5, 2)
    assert torch.autograd.gradcheck(lambda t: view(t) * t[0], (x,))
    base = torch.zeros(4, dtype=torch.float64)
    weight = leaf(2)
    view(base).add_(weight)
    (gradient,) = torch.autograd.grad((base * 2).sum(), weight)
    assert gradient.tolist() == [2, 2]
    given = x.detach()
    assert view(given).data_ptr() == given.data_ptr() and view(given)._base is given


def several_views() -> None:
    """Two views of one tensor, eager and traced, with and without a gradient: what lint reports only for target torch."""
    halves = torch.ops.graded.both_halves

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        first, second = halves(y)
        first.mul_(3)
        return y * second.sum()

    x = leaf(4)
    assert torch.autograd.gradcheck(program, (x,)) and torch.autograd.gradgradcheck(program, (x,))
    expected = torch.autograd.grad(program(x).sum(), x)
    traced = torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=True)
    torch.testing.assert_close(torch.autograd.grad(traced(x).sum(), x), expected)
    for given in (x, x.detach()):
        torch.testing.assert_close(traced(given), program(given))
        torch.testing.assert_close(make_fx(program)(given)(given), program(given))
        opcheck(halves.default, (given,))


def registered_later() -> None:
    """torch.library.register_autograd adds a formula in Python, without a warning while the package is imported."""
    below = next(module for name, module in sys.modules.items() if name.endswith("._below"))
    below.prepare()
    x = leaf(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.library.register_autograd("graded::plain", lambda context, grad: grad * 3)
        below.settle()
        (gradient,) = torch.autograd.grad(torch.ops.graded.plain(x).sum(), x)
    assert gradient.tolist() == [3, 3, 3]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), torch.ones_like(x))
        expect_error(
            lambda: torch.ops.graded.plain(dual), NotImplementedError, "Trying to use forward AD"
        )


def compiled() -> None:
    """torch.compile: the same gradients in one graph for all sizes, and the same errors."""
    ops = torch.ops.graded

    def both(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        sin, cos = ops.sin_cos(ops.rms_norm(x, weight))
        return (sin + ops.bump(cos) + ops.scaled(cos, 1.5)).sum()

    counter = CompileCounterWithBackend("aot_eager")
    program = torch.compile(both, backend=counter, fullgraph=True, dynamic=True)
    for rows in (3, 5, 8):
        x, weight = leaf(rows, 6), leaf(6)
        expected = torch.autograd.grad(both(x, weight), (x, weight))
        torch.testing.assert_close(torch.autograd.grad(program(x, weight), (x, weight)), expected)
    assert counter.frame_count == 1, counter.frame_count

    def inplace(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        ops.bump_(y)
        return y.sum()

    x = leaf(4)
    program = torch.compile(inplace, backend="aot_eager", fullgraph=True)
    expected = torch.autograd.grad(inplace(x), x)
    torch.testing.assert_close(torch.autograd.grad(program(x), x), expected)

    program = torch.compile(lambda t: ops.plain(t).sum(), backend="aot_eager", fullgraph=True)
    expect_error(lambda: program(leaf(4)).backward(), Exception, "derivative for graded::plain")
    x = torch.randn(4, dtype=torch.float64)
    torch.testing.assert_close(program(x), 3 * x.sum())
    program = torch.compile(lambda t: ops.every_other(t).sin(), backend="aot_eager", fullgraph=True)
    x = leaf(4)
    expected = torch.autograd.grad(ops.every_other(x).sin().sum(), x)
    torch.testing.assert_close(torch.autograd.grad(program(x).sum(), x), expected)


def effects() -> None:
    """Graphs keep every call of an operator with effects, in the order of the program; tracing makes none."""
    ops = torch.ops.graded

    def program(x: torch.Tensor) -> torch.Tensor:
        ops.log(x, "a", 1)
        y = x * 2
        ops.send(y)
        ops.log(y, "b", 2)
        return ops.send(y).sum()

    class Module(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return program(x)

    x = torch.ones(3, dtype=torch.float64)
    compiled = torch.compile(program, backend="aot_eager", fullgraph=True)
    exported = torch.export.export(Module(), (x,)).run_decompositions()
    assert ops.called() == 0, "tracing"
    for run in (compiled, compiled, exported.module()):
        assert run(x) == 6
        assert ops.called() == 1929


def checked() -> None:
    """opcheck finds nothing wrong with the registrations."""
    ops = torch.ops.graded
    x = leaf(4)
    for overload, arguments in (
        (ops.bump.default, (x,)),
        (ops.sin_cos.default, (x,)),
        (ops.rms_norm.default, (leaf(3, 4), leaf(4))),
        (ops.scaled.default, (x, 2.5)),
        (ops.sign_of.default, (x.detach(),)),
        (ops.plain.default, (x.detach(),)),
        (ops.positive.default, (x.detach(),)),
    ):
        opcheck(overload, arguments)


def sizes_that_depend_on_data() -> None:
    """A `fake` line with new_size(): the exception of PyTorch's own nonzero where no such size is allowed, else symbols."""
    ops = torch.ops.graded
    with FakeTensorMode():
        for x in (torch.randn(4, dtype=torch.float64), leaf(4)):
            for call in (torch.nonzero, ops.positive):
                expect_error(partial(call, x), DynamicOutputShapeException, "")
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        program = torch.compile(
            lambda t: ops.positive(t).sum(), backend="aot_eager", fullgraph=True
        )
        assert program(torch.tensor([1.0, -2, 3], dtype=torch.float64)) == 4
    words = "derivative for graded::positive is not implemented"
    expect_error(lambda: ops.positive(leaf(4)).sum().backward(), RuntimeError, words)


if __name__ == "__main__":
    torch.ops.load_library(sys.argv[1])
    torch.manual_seed(0)
    for check in sys.argv[2:]:
        globals()[check]()
    print("ok")
