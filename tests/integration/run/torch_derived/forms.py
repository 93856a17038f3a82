"""Check that each form of an operator has its gradient, or an error that names it: `forms.py LIBRARY`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

torch.ops.load_library(sys.argv[1])
ops: Any = torch.ops.derived


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def error_of(call: Callable[..., Any], *arguments: Any) -> str:
    try:
        call(*arguments)
    except RuntimeError as error:
        return str(error)
    raise AssertionError("no error")


def check_optional_arguments() -> None:
    """An absent tensor is nullopt for the author's function."""
    x, by = leaf(1.0, 2.0), leaf(3.0, 4.0)
    ops.shift(x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    ops.shift(x, by).sum().backward()
    assert by.grad.tolist() == [1.0, 1.0]


def check_results() -> None:
    """Of several results, each has its own gradient, also if it is the only one that is used."""
    x = leaf(1.0, 2.0)
    sign, twice = ops.chosen(x)
    assert not sign.requires_grad
    (gradient,) = torch.autograd.grad(twice.sum(), x)
    assert gradient.tolist() == [2.0, 2.0]

    first, parts = ops.mixed(x, 3)
    for result, factor in ((first, 2.0), (parts[0], 1.0), (parts[1], 2.0), (parts[2], 3.0)):
        (gradient,) = torch.autograd.grad(result.sum(), x, retain_graph=True)
        assert gradient.tolist() == [factor, factor], (factor, gradient)

    (gradient,) = torch.autograd.grad(ops.perhaps(x, True).sum(), x)
    assert gradient.tolist() == [2.0, 2.0]
    assert ops.perhaps(x, False) is None


def check_writes() -> None:
    """A result that is not the written argument has a history, and so has each written argument that is returned."""
    x, target = leaf(1.0, 2.0), torch.zeros(2)
    (gradient,) = torch.autograd.grad(ops.drain_(target, x).sum(), x)
    assert gradient.tolist() == [3.0, 3.0]
    assert not target.requires_grad
    assert "'self'" in error_of(lambda: ops.drain_(x * 1, x))

    y = leaf(3.0, 4.0)
    a, b = x * 2, y * 5
    ops.swap_(a, b)
    gradients = torch.autograd.grad(a.sum(), (x, y), retain_graph=True, materialize_grads=True)
    assert [g.tolist() for g in gradients] == [[0.0, 0.0], [5.0, 5.0]], gradients
    gradients = torch.autograd.grad(b.sum(), (x, y), materialize_grads=True)
    assert [g.tolist() for g in gradients] == [[2.0, 2.0], [0.0, 0.0]], gradients


def check_tangents() -> None:
    """A result without a gradient has no tangent, whether the YAML says so or a condition."""
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        sign, twice = map(forward_ad.unpack_dual, ops.chosen(x))
        assert sign.tangent is None
        assert twice.tangent.tolist() == [2.0, 2.0]
        assert forward_ad.unpack_dual(ops.scale_if(x, 3.0, False)).tangent is None
        assert forward_ad.unpack_dual(ops.scale_if(x, 3.0, True)).tangent.tolist() == [3.0, 3.0]


def check_written_views() -> None:
    """Tangents come from the values before the write, and the gradients of a written view are those of its base."""

    def ours(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        whole = y * 1
        product, total = ops.times_into(x, whole[1:])
        return product, total, whole

    def theirs(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        whole = y * 1
        total = whole[1:].mul_(x)
        return total * 10, total, whole

    x, y = torch.tensor([3.0, 5.0]), torch.tensor([1.0, 2.0, 4.0])
    for tangents in ((x, y), (torch.ones(2), torch.zeros(3)), (torch.zeros(2), torch.ones(3))):
        for call in (
            lambda f, tangents=tangents: torch.func.jvp(f, (x, y), tangents)[1],
            lambda f, tangents=tangents: torch.func.jvp(
                lambda x, y: torch.func.jvp(f, (x, y), tangents)[1], (x, y), (x, y)
            )[1],
        ):
            torch.testing.assert_close(call(ours), call(theirs))

    def total(f: Callable[..., Any]) -> Callable[..., torch.Tensor]:
        return lambda x, y: sum((i + 1) * (r * r).sum() for i, r in enumerate(f(x, y)))

    # Backward formulas read the old value of the written tensor, too.
    leaves = [x.clone().requires_grad_(), y.clone().requires_grad_()]
    gradients = [torch.autograd.grad(total(f)(*leaves), leaves) for f in (ours, theirs)]
    torch.testing.assert_close(*gradients)

    def added(add: Callable[..., Any]) -> Callable[..., tuple[torch.Tensor]]:
        def call(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
            whole = y * 1
            add(x, whole[1:])
            return (whole,)

        return call

    def swapped(swap: Callable[..., Any]) -> Callable[..., tuple[torch.Tensor, ...]]:
        def call(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            other, whole = x * 1, y * 1
            swap(other, whole[1:])
            return other, whole

        return call

    def swap(x: torch.Tensor, y: torch.Tensor) -> None:
        old = x.clone()
        x.copy_(y)
        y.copy_(old)

    pairs = ((added, ops.add_to, lambda x, t: t.add_(x)), (swapped, ops.swap_, swap))
    for program, first, second in pairs:
        gradients = [
            torch.autograd.grad(total(program(f))(*leaves), leaves) for f in (first, second)
        ]
        torch.testing.assert_close(*gradients)
        gradients = [
            torch.func.grad(total(program(f)), argnums=(0, 1))(x, y) for f in (first, second)
        ]
        torch.testing.assert_close(*gradients)
    with forward_ad.dual_level():  # only the other argument has a tangent
        whole = torch.tensor([1.0, 2.0, 4.0])
        ops.times_into(forward_ad.make_dual(x, torch.ones(2)), whole[1:])
        assert forward_ad.unpack_dual(whole).tangent.tolist() == [0.0, 2.0, 4.0]


def check_without_formula() -> None:
    """Protects from gradients of zero: tensors at any depth of a result or an argument have an error, once used."""

    def scaled(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        ops.scale_all_([y], 2.0)
        return y

    calls = {
        "nested": lambda x: ops.nested(x)[1][0],
        "gaps": lambda x: ops.gaps(x)[1],
        "named": lambda x: ops.named(x)["twice"],
        "given": lambda x: ops.given([None, x]),
        "scale_all_": scaled,
    }

    def backward(call: Callable[..., torch.Tensor]) -> None:
        call(leaf(1.0, 2.0)).sum().backward()

    def of_level(call: Callable[..., torch.Tensor]) -> None:
        torch.func.grad(lambda x: call(x).sum())(torch.ones(2))

    for name, call in calls.items():
        message = f"derivative for derived::{name} is not implemented"
        assert message in error_of(backward, call), name
        assert not call(torch.ones(2)).requires_grad
        with torch.no_grad():
            assert not call(leaf(1.0, 2.0)).requires_grad
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
            assert "forward AD" in error_of(call, dual), name
        if name != "named":  # PyTorch refuses dicts under torch.func
            assert message in error_of(of_level, call), name


def check_errors() -> None:
    """An error in a formula names the operator and the formula."""
    message = error_of(lambda: ops.broken(leaf(1.0, 2.0)).sum().backward())
    assert "in the formula of derived::broken for the gradient of 'self'" in message, message


for check in (
    check_optional_arguments,
    check_results,
    check_writes,
    check_tangents,
    check_written_views,
    check_without_formula,
    check_errors,
):
    check()
print("ok")
