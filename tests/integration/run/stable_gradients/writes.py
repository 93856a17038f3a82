"""Check the gradients of operators that write, of a package for torch-stable, beside those of torch.mul.

Arguments: the library, and the names of checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from checks import expect_error
from torch._functorch.aot_autograd import aot_function
from torch._functorch.compilers import nop
from torch.autograd import grad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

Write = Callable[[torch.Tensor, torch.Tensor], Any]
Places = tuple[slice, slice]


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def leaf(*values: float) -> torch.Tensor:
    return tensor(*values).requires_grad_()


def writes() -> Iterator[Write]:
    """Yield all operators that multiply their first tensor by the second one."""
    ops = torch.ops.graded
    yield ops.product_
    yield ops.multiply_
    yield lambda x, b: ops.multiply_both_(x, b * 1)


def torch_mul_(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return x.mul_(b)


def same(program: Callable[[Write], Any], *operators: Write) -> None:
    """Check that a program has the same results with each operator as with PyTorch's."""
    expected = program(torch_mul_)
    for write in operators or writes():
        torch.testing.assert_close(program(write), expected)


def second_order() -> None:
    """Second and third derivatives: the old value that a formula reads has a gradient of its own."""

    def twice(write: Write) -> Any:
        a = leaf(3, 4)
        y = a * 1
        write(y, a)
        (first,) = grad(y.sum(), a, create_graph=True)
        (second,) = grad(first.square().sum(), a, create_graph=True)
        return first, second, *grad(second.square().sum(), a)

    same(twice)
    for write in writes():
        write_only = lambda x, b, write=write: (y := x * 1, write(y, b), y)[-1]  # noqa: E731
        given = (leaf(1, 2), leaf(3, 5))
        assert torch.autograd.gradcheck(write_only, given)
        assert torch.autograd.gradgradcheck(write_only, given)

    def both(x: torch.Tensor, y: torch.Tensor) -> Any:
        return torch.ops.graded.multiply_both_(x * 1, y * 1)

    given = (leaf(1, 2), leaf(3, 5))
    assert torch.autograd.gradcheck(both, given) and torch.autograd.gradgradcheck(both, given)


def views() -> None:
    """Writes to a view of one's own and to its base, with torch.autograd and with torch.func."""

    def to_view(write: Write, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = x * 1
        write(y[0], b)
        return (y * y).sum()

    def to_base(write: Write, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = x * 1
        view = y[0]
        write(y, b.expand(2, 2))
        return (view * view).sum()

    x, b = leaf(1, 2, 3, 4).detach().reshape(2, 2).requires_grad_(), leaf(5, 6)
    for program in (to_view, to_base):
        same(lambda write, program=program: grad(program(write, x, b), (x, b)))
        same(
            lambda write, program=program: torch.func.grad(
                lambda x, b: program(write, x, b), argnums=(0, 1)
            )(x.detach(), b.detach())
        )
        same(
            lambda write, program=program: torch.func.grad(
                lambda x: torch.func.grad(lambda b: program(write, x, b))(b.detach()).sin().sum()
            )(x.detach())
        )

    def of_several(write: Write) -> None:
        write((x * 1).unbind()[0], b)

    for write in (torch_mul_, *writes()):
        expect_error(lambda write=write: of_several(write), RuntimeError, "multiple views")


def forward_over_backward() -> None:
    """jvp over grad: an error as for other tangents, never a tangent of zero."""
    x, ones = tensor(1, 2), tensor(1, 1)
    ops = torch.ops.graded
    for operator in (ops.product, ops.product_, ops.multiply_):

        def f(x: torch.Tensor, operator: Any = operator) -> torch.Tensor:
            return operator(x * x, x).sum()

        expect_error(
            lambda f=f: torch.func.jvp(torch.func.grad(f), (x,), (ones,)),
            NotImplementedError,
            f"Trying to use forward AD with graded::{operator.__name__} that does not support it",
        )
        torch.testing.assert_close(
            torch.func.jacrev(torch.func.grad(f))(x), torch.diag(6 * x), check_dtype=False
        )


def modes() -> None:
    """no_grad, inference mode, checkpoints, vmap, leaves, and the tensor that is both arguments."""

    def not_recorded(write: Write) -> Any:
        x = leaf(1, 2)
        y = x * 1
        with torch.no_grad():
            write(y, leaf(3, 4))
        with torch.inference_mode():
            write(tensor(1, 2), tensor(1, 2))
        return y, *grad(y.sum(), x)

    def checkpointed(write: Write) -> Any:
        x, b = leaf(1, 2), leaf(3, 4)

        def part(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            y = x * 1
            write(y, b)
            return y * b

        out = checkpoint(part, x, b, use_reentrant=False)
        return grad(out.sum(), (x, b))

    def batched(write: Write) -> Any:
        def one(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            y = x * 1
            write(y, b)
            return y.sum()

        return torch.func.vmap(torch.func.grad(one))(tensor(1, 2, 3), tensor(4, 5, 6))

    def untracked(write: Write) -> Any:
        x, b = tensor(1, 2), leaf(3, 4)
        write(x, b)
        return x.detach(), x.requires_grad, *grad((x * 2).sum(), b)

    ops = torch.ops.graded
    for program in (not_recorded, checkpointed, untracked):
        same(program)
    same(batched, ops.product_, ops.multiply_)
    for write in (torch_mul_, *writes()):
        words = "a leaf Variable that requires grad"
        expect_error(lambda write=write: write(leaf(1), tensor(2)), RuntimeError, words)
    refused: dict[str, Callable[[torch.Tensor], Any]] = {
        "multiply_both_": lambda y: ops.multiply_both_(y, y + 1),
        "multiply_all_": lambda y: ops.multiply_all_([y], [y]),
        "plain_into": lambda y: ops.plain_into(y + 1, y),
        "bump.out": lambda y: ops.bump.out(y + 1, out=y),
    }
    for name, call in refused.items():
        words = f"Batching rule not implemented for graded::{name}"
        batch = tensor(1, 2, 3, 4).reshape(2, 2)
        expect_error(lambda call=call: torch.vmap(call)(batch), RuntimeError, words)  # noqa: B023
    x = leaf(1, 2)
    y = x * 1
    assert ops.multiply_(y, y) is y
    assert grad(y.sum(), x)[0].tolist() == [2, 4]
    y, z = x * 1, x * 1
    first, second = ops.multiply_both_(y, z)
    assert first is y and second is z
    words = "graded::multiply_both_: one tensor is written twice"
    expect_error(lambda: ops.multiply_both_(y, y), RuntimeError, words)
    parts, b = [x * 1, x * 2], tensor(3, 4)
    assert ops.multiply_all_(parts, [b, b]) is None
    assert grad((parts[0] + 10 * parts[1]).sum(), x)[0].tolist() == [63, 84]
    parts = [x * 1, x * 2]
    ops.multiply_all_(parts, [b, b])
    assert grad(parts[1].sum(), x)[0].tolist() == [6, 8]


def shared_elements() -> None:
    """Two written views of the same elements: an error. Views of other elements of one tensor: their gradients."""

    def ours(x: torch.Tensor, first: slice, second: slice) -> torch.Tensor:
        y = x * 1
        torch.ops.graded.multiply_both_(y[first], y[second])
        return (y * y).sum()

    def theirs(x: torch.Tensor, first: slice, second: slice) -> torch.Tensor:
        y = x * 1
        a, b = y[first].clone(), y[second].clone()
        y[first].copy_(a * b)
        y[second].copy_(a * a)
        return (y * y).sum()

    compiled_ = torch.compile(ours, backend="aot_eager", fullgraph=True)

    def on_meta(x: torch.Tensor, places: Places) -> torch.Tensor:
        with torch.device("meta"):
            return grad(ours(x, *places), x)[0]

    class Module(torch.nn.Module):
        def __init__(self, places: Places) -> None:
            super().__init__()
            self.places = places

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ours(x, *self.places)

    # The gradient, in several modes. The last two see the check's own tensors.
    eager: tuple[Callable[[torch.Tensor, Places], torch.Tensor], ...] = (
        lambda x, p: grad(ours(x, *p), x)[0],
        lambda x, p: torch.func.grad(ours)(x, *p),
        lambda x, p: grad(make_fx(lambda x: ours(x, *p))(x)(x), x)[0],
        on_meta,
    )
    # The second of the traced calls goes without dynamo's own check.
    traced: tuple[Callable[[torch.Tensor, Places], torch.Tensor], ...] = (
        lambda x, p: grad(compiled_(x, *p), x)[0],
        lambda x, p: grad(aot_function(lambda x: ours(x, *p), fw_compiler=nop)(x), x)[0],
        lambda x, p: grad(torch.export.export(Module(p), (x,)).module()(x), x)[0],
    )
    apart, interleaved = (slice(0, 2), slice(2, 4)), (slice(0, 4, 2), slice(1, 4, 2))
    x = leaf(1, 2, 3, 4)
    for places in (apart, interleaved):
        expected = torch.func.grad(theirs)(x.detach(), *places)
        for call in eager if places == interleaved else (*eager, *traced):
            torch.testing.assert_close(call(x, places), expected)
    words = "graded::multiply_both_: one tensor is written twice"
    shared = ((slice(0, 2), slice(1, 3)), (slice(0, 4, 2), slice(2, 4)), (slice(2), slice(2)))
    # Traced calls refuse interleaved views as well, because they are in one range of memory.
    for places in (*shared, interleaved):
        for call in traced if places == interleaved else (*eager, *traced):
            expect_error(lambda: call(x, places), RuntimeError, words)  # noqa: B023
        # Without a gradient it writes in place, traced or not.
        given = x.detach()
        assert compiled_(given, *places) == ours(given, *places) == theirs(given, *places)


def compiled() -> None:
    """torch.compile: graph inputs that require a gradient or not, values of the graph, and views."""

    def to_input(write: Write, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        write(x, b)
        return x * 2

    def to_value(write: Write, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        write(y, b)
        return y * y * x

    def to_view(write: Write, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        view = y[1:]
        write(view, b[1:])
        return y * view.sum()

    def gradients(program: Any, write: Write, is_tracked: bool) -> Any:
        x, b = tensor(1, 2).requires_grad_(is_tracked), leaf(3, 4)
        given = x * 1
        result = program(write, given, b)
        wanted = (x, b) if is_tracked else (b,)
        return result.detach(), given.detach(), *grad(result.sum(), wanted)

    # Inductor takes long, and the operators' graphs differ only in their names.
    for backend, operators in (("aot_eager", [*writes()]), ("inductor", [*writes()][:1])):
        for program in (to_input, to_value, to_view):
            for write in operators:
                torch._dynamo.reset()
                compiled = torch.compile(program, backend=backend, fullgraph=True)
                for is_tracked in (False, True):
                    expected = gradients(program, torch_mul_, is_tracked)
                    try:
                        found = gradients(compiled, write, is_tracked)
                    except RuntimeError as error:
                        # As for torch.mul_, if the graph keeps its input for the backward pass, and not a copy.
                        assert program is to_input and "modified by an inplace" in str(error), error
                    else:
                        torch.testing.assert_close(found, expected)


if __name__ == "__main__":
    torch.ops.load_library(sys.argv[1])
    for check in sys.argv[2:]:
        globals()[check]()
    print("ok")
