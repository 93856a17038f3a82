"""Take the gradients of the operators in every way that PyTorch offers, and compare them with those of PyTorch's own
functions.

Arguments: the library, and the names of checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.library import opcheck

sys.path.insert(0, str(Path(__file__).parents[4] / "examples" / "gradients" / "tests"))
from reference import cases

# Operators without a forward formula.
BACKWARD_ONLY = ("rotary_embedding", "biquad", "weighted_total")
# Operators whose gradients have gradients of every argument.
SECOND_ORDER = (
    *("rotary_embedding", "roi_align", "scatter_sum", "leaky_sum", "bump", "squash", "sin_cos"),
    *("minmax", "main_diagonal", "_foreach_squash", "weighted_total"),
)
# Arguments without a gradient.
CONSTANT = {"rotary_embedding": (3,), "roi_align": (1,)}

Function = Callable[..., torch.Tensor]


def operator(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(torch.ops.graded, name).default
    return found


def flat(value: Any) -> Iterator[torch.Tensor]:
    for item in value if isinstance(value, list | tuple) else [value]:
        yield from flat(item) if isinstance(item, list | tuple) else [item]


def as_function(f: Callable[..., Any], name: str) -> tuple[Function, tuple[torch.Tensor, ...]]:
    """Return the sum of the squares of all outputs as a function of the arguments with a gradient, and these."""
    arguments = list(cases()[name][1])
    places: list[tuple[int, int | None]] = []
    for i, a in enumerate(arguments):
        if i in CONSTANT.get(name, ()):
            continue
        if isinstance(a, list) and isinstance(a[0], torch.Tensor):
            places += [(i, k) for k in range(len(a))]
        elif isinstance(a, torch.Tensor) and a.is_floating_point():
            places.append((i, None))

    def g(*inputs: torch.Tensor) -> torch.Tensor:
        given = [list(a) if isinstance(a, list) else a for a in arguments]
        for (i, k), value in zip(places, inputs):
            if k is None:
                given[i] = value
            else:
                given[i][k] = value  # type: ignore[index]
        outputs = [t for t in flat(f(*given)) if t.is_floating_point()]
        return torch.stack([(t * t).sum() + t.sum() for t in outputs]).sum()

    inputs = [arguments[i] if k is None else arguments[i][k] for i, k in places]  # type: ignore[index]
    return g, tuple(inputs)  # type: ignore[arg-type]


def both(name: str) -> tuple[Function, Function, tuple[torch.Tensor, ...]]:
    own, inputs = as_function(operator(name), name)
    return own, as_function(cases()[name][0], name)[0], inputs


def every(inputs: tuple[torch.Tensor, ...]) -> tuple[int, ...]:
    return tuple(range(len(inputs)))


def check_backward(name: str) -> None:
    own, reference, inputs = both(name)
    leaves = [t.clone().requires_grad_() for t in inputs]
    expected = torch.autograd.grad(reference(*leaves), leaves)
    torch.testing.assert_close(torch.autograd.grad(own(*leaves), leaves), expected)


def check_func(name: str) -> None:
    own, reference, inputs = both(name)
    places = every(inputs)
    expected = torch.func.grad(reference, places)(*inputs)
    torch.testing.assert_close(torch.func.grad(own, places)(*inputs), expected)
    torch.testing.assert_close(torch.func.jacrev(own, places)(*inputs), expected)
    value, pullback = torch.func.vjp(own, *inputs)
    torch.testing.assert_close(pullback(torch.ones_like(value)), expected)


def check_forward(name: str) -> None:
    own, reference, inputs = both(name)
    places = every(inputs)
    tangents = tuple(torch.randn_like(t) for t in inputs)
    if name in BACKWARD_ONLY:
        try:
            torch.func.jvp(own, inputs, tangents)
        except (RuntimeError, NotImplementedError) as error:
            assert name in str(error), error
            return
        raise AssertionError(f"{name} has no forward formula, and a tangent")
    expected = torch.func.jvp(reference, inputs, tangents)
    torch.testing.assert_close(torch.func.jvp(own, inputs, tangents), expected)
    jacobian = torch.func.jacrev(reference, places)(*inputs)
    torch.testing.assert_close(torch.func.jacfwd(own, places)(*inputs), jacobian)


def check_vmap(name: str) -> None:
    """Check the gradients for each of a batch of inputs."""
    own, reference, inputs = both(name)
    batches = tuple(torch.stack([t, t * 0.5, t + 0.25]) for t in inputs)
    places = every(inputs)
    found = torch.func.vmap(torch.func.grad(own, places))(*batches)
    expected = [torch.func.grad(reference, places)(*one) for one in zip(*batches)]
    torch.testing.assert_close(found, tuple(torch.stack(parts) for parts in zip(*expected)))


def check_hessian(name: str) -> None:
    if name not in SECOND_ORDER:
        return
    own, reference, inputs = both(name)
    jacrev = torch.func.jacrev
    expected = jacrev(jacrev(reference))(*inputs)
    torch.testing.assert_close(jacrev(jacrev(own))(*inputs), expected)


def check_opcheck(name: str) -> None:
    arguments = [
        (
            a.clone().requires_grad_(i not in CONSTANT.get(name, ()))
            if isinstance(a, torch.Tensor) and a.is_floating_point()
            else (
                [t.clone().requires_grad_() for t in a]
                if isinstance(a, list) and isinstance(a[0], torch.Tensor)
                else a
            )
        )
        for i, a in enumerate(cases()[name][1])
    ]
    opcheck(operator(name), tuple(arguments))


def check_compile(name: str) -> None:
    """Train through inductor: the gradients are equal, and the graph is one, with sizes that are symbols."""
    own, _, inputs = both(name)
    torch.compiler.reset()

    def step(*inputs: torch.Tensor) -> torch.Tensor:
        return own(*(t * 1.5 for t in inputs)) * 2

    compiled = torch.compile(step, fullgraph=True, dynamic=True)
    for scale in (1.0, 0.5):
        leaves = [(t * scale).detach().requires_grad_() for t in inputs]
        expected = torch.autograd.grad(step(*leaves), leaves)
        torch.testing.assert_close(torch.autograd.grad(compiled(*leaves), leaves), expected)


def check_variants(name: str) -> None:
    """Check in-place variants, whose gradients are those of the function, and out= variants, whose error says that
    there is none."""
    if name not in ("bump", "squash"):
        return
    own, _, (input,) = both(name)
    inplace = getattr(torch.ops.graded, f"{name}_").default
    leaf = input.clone().requires_grad_()
    (expected,) = torch.autograd.grad(own(leaf), leaf)
    written = inplace(leaf * 1)
    (found,) = torch.autograd.grad((written * written).sum() + written.sum(), leaf)
    tangent = torch.randn_like(input)
    if name == "bump":  # whose argument with its default differs from the case
        (expected,) = torch.autograd.grad(
            (torch.ops.graded.bump(leaf) ** 2).sum() + torch.ops.graded.bump(leaf).sum(), leaf
        )
    torch.testing.assert_close(found, expected)
    functional = torch.func.jvp(getattr(torch.ops.graded, name), (input,), (tangent,))
    torch.testing.assert_close(
        torch.func.jvp(lambda x: inplace(x * 1), (input,), (tangent,)), functional
    )
    try:
        inplace(leaf)
    except RuntimeError as error:
        assert "leaf" in str(error)
    else:
        raise AssertionError("a leaf was written")
    try:
        getattr(torch.ops.graded, name).out(leaf, out=torch.empty_like(input))
    except RuntimeError as error:
        assert "out=" in str(error), error
    else:
        raise AssertionError("an operator with out= has no gradient")


CHECKS = {
    key.removeprefix("check_"): f for key, f in list(globals().items()) if key.startswith("check_")
}


def main(library: str, *checks: str) -> None:
    torch.ops.load_library(library)
    failures = []
    for check in checks or CHECKS:
        for name in cases():
            try:
                CHECKS[check](name)
            except Exception as error:
                failures.append(f"{check} of {name}: {type(error).__name__}: {str(error)[:1500]}")
    print("\n".join(failures) or f"{len(cases())} operators, no failure")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(*sys.argv[1:])
