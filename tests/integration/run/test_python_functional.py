"""autograd.Function, the functions of autograd.functional, and batches of gradients: the same with PyTorch and with the
slice."""

from __future__ import annotations

from typing import Any

import pytest

from support.library import own_package

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow
# `t` is the module, `F` its autograd.functional; `x` and `y` have two elements, `m` 2x2; `w` is a leaf with a gradient.
SAME = (
    # Jacobians: of one or several inputs, of one or several outputs.
    "F.jacobian(lambda a: a * a, x)",
    "F.jacobian(lambda a: (a * a).sum(), x)",
    "F.jacobian(lambda a, b: a * b, (x, y))",
    "F.jacobian(lambda a: (a.exp(), a.sum()), x)",
    "F.jacobian(lambda a, b: (a.mm(b), a), (m, m.t()))",
    "F.jacobian(lambda a: a.mm(a), m).shape",
    "F.jacobian(lambda a: t.ones(3), x)",
    "F.jacobian(lambda a: a * a, x).requires_grad",
    "F.jacobian(lambda a: a * a * a, w, create_graph=True).sum().backward() or w.grad",
    # Hessians.
    "F.hessian(lambda a: (a * a * a).sum(), x)",
    "F.hessian(lambda a, b: (a * a * b).sum(), (x, y))",
    "F.hessian(lambda a: (a.exp() * a).sum(), m).shape",
    "F.hessian(lambda a: a.sum(), x)",
    "F.hessian(lambda a: a * a, x)",
    # Products.
    "F.vjp(lambda a: a * a, x, y)",
    "F.vjp(lambda a: (a * a).sum(), x)",
    "F.vjp(lambda a, b: (a * b, a.exp()), (x, y), (y, x))",
    "F.vjp(lambda a: a * a, x)",
    "F.vjp(lambda a: a * a, x, t.ones(3, dtype=t.float64))",
    "F.jvp(lambda a: a * a, x, y)",
    "F.jvp(lambda a, b: (a * b, a.exp()), (x, y), (y, x))",
    "F.vhp(lambda a: (a * a * a).sum(), x, y)",
    "F.vhp(lambda a, b: (a * a * b).sum(), (x, y), (y, x))",
    "F.vhp(lambda a: a.sum(), x, y)",
    "F.vhp(lambda a: a * a, x, y)",
    "F.hvp(lambda a: (a * a * a).sum(), x, y)",
    "F.hvp(lambda a, b: (a * a * b.exp()).sum(), (x, y), (y, x))",
    "F.hvp(lambda a: (a * a).sum(), x)",
    # Batches of weights.
    "t.autograd.grad(w * w, w, m, is_grads_batched=True)",
    "t.autograd.grad((w * w, w.exp()), w, (m, m), is_grads_batched=True)",
    "t.autograd.grad(w * w, (w, u), m, is_grads_batched=True, allow_unused=True)",
    "t.autograd.grad(w * w * w, w, m, is_grads_batched=True, create_graph=True)[0].sum().backward() or w.grad",
    # Functions.
    "Cube.apply(w).sum().backward() or w.grad",
    "Cube.apply(x).requires_grad",
    "t.autograd.gradcheck(Cube.apply, w)",
    "t.autograd.grad(t.autograd.grad(Cube.apply(w).sum(), w, create_graph=True)[0].sum(), w)",
    "F.hessian(lambda a: Cube.apply(a).sum(), x)",
    "Scaled.apply(w, 3.0).sum().backward() or w.grad",
    "[each.requires_grad for each in Halves.apply(w)]",
    "Halves.apply(w)[0].sum().backward() or w.grad",
    "Doubled.apply(w * 1).sum().backward() or w.grad",
    "Wrong.apply(w).sum().backward()",
    "Cube.apply(w).sum().backward(retain_graph=True) or seen",
)


def _names(t: Any) -> dict[str, Any]:
    """Return the names that the expressions use, with tensors and functions of the module."""
    base: Any = t.autograd.Function
    seen: list[Any] = []

    class Cube(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            seen.append(ctx.needs_input_grad)
            return a * a * a

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (a,) = ctx.saved_tensors
            return grad * a * a * 3

    class Scaled(base):  # type: ignore[misc]
        @staticmethod
        def forward(a: Any, factor: float) -> Any:
            return a * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor, None

    class Halves(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            half, double = a * 0.5, a * 2
            ctx.mark_non_differentiable(double)
            return half, double

        @staticmethod
        def backward(ctx: Any, grad: Any, of_double: Any) -> Any:
            return grad * 0.5

    class Doubled(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            a.mul_(2)
            ctx.mark_dirty(a)
            return a

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    class Wrong(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            raise KeyError("of the author")

    double = {"dtype": t.float64}
    return {
        "t": t,
        "F": t.autograd.functional,
        "x": t.tensor([1.0, 2.0], **double),
        "y": t.tensor([3.0, -1.0], **double),
        "m": t.tensor([[1.0, 2.0], [3.0, 5.0]], **double),
        "w": t.tensor([1.0, 2.0], requires_grad=True, **double),
        "u": t.tensor([1.0], requires_grad=True, **double),
        "seen": seen,
        "Cube": Cube,
        "Scaled": Scaled,
        "Halves": Halves,
        "Doubled": Doubled,
        "Wrong": Wrong,
    }


def _shown(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_shown, value))
    if hasattr(value, "tolist"):
        # Both compute in float64; the last digits may differ.
        return tuple(value.shape), [round(one, 9) for one in value.reshape(-1).tolist()]
    return value


def _answer(module: Any, expression: str) -> Any:
    """Return the value, or the class of the exception."""
    try:
        return _shown(eval(expression, _names(module)))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("expression", SAME)
def test_both_give_the_same(expression: str) -> None:
    """Protects users who know PyTorch: the same call has the same value, or fails with the same exception."""
    expected = _answer(torch, expression)
    found = _answer(own_package(), expression)
    assert found == expected


def test_results_that_pytorch_does_not_give() -> None:
    """Protects shapes where ours differ: an empty output has an empty Jacobian, and zeros have the batch's size."""
    names = _names(own_package())
    empty = eval("F.jacobian(lambda a: a.reshape(0, 2), t.zeros(0))", names)
    assert tuple(empty.shape) == (0, 2, 0)
    call = "t.autograd.grad(w * w, u, m, is_grads_batched=True, materialize_grads=True)"
    (zeros,) = eval(call, names)
    assert tuple(zeros.shape) == (2, 1) and zeros.tolist() == [[0], [0]]


def test_exceptions_of_an_author_reach_the_caller() -> None:
    """Protects who writes a Function: the exception of backward() comes out of it unchanged."""
    names = _names(own_package())
    with pytest.raises(KeyError, match="of the author"):
        eval("Wrong.apply(w).sum().backward()", names)
