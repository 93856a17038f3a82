"""The operators compute what PyTorch's functions compute, and so do their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import graded
import pytest
import torch
from reference import cases, rotary_embedding

# Operators whose gradients are compared: for all, backward() goes through the functions of reference.py, too.
NAMES = tuple(cases())


def operator(name: str) -> Callable[..., Any]:
    """Return graded.rms_norm and so on; it is torch.ops.graded.rms_norm."""
    found: Callable[..., Any] = getattr(graded, name)
    return found


def tensors(value: Any) -> Iterator[torch.Tensor]:
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, list | tuple):
            yield from tensors(item)
        elif isinstance(item, torch.Tensor) and item.is_floating_point():
            yield item


@pytest.mark.parametrize("name", NAMES)
def test_values(name: str) -> None:
    reference, arguments = cases()[name]
    torch.testing.assert_close(operator(name)(*arguments), reference(*arguments))


@pytest.mark.parametrize("name", NAMES)
def test_gradients(name: str) -> None:
    """backward() through the operator, and through the same of PyTorch."""
    found = []
    for f in (operator(name), cases()[name][0]):
        arguments = cases()[name][1]
        inputs = list(tensors(arguments))
        if name == "rotary_embedding":
            inputs = inputs[:2]  # positions and angles have no gradient
        elif name == "roi_align":
            inputs = inputs[:1]
        for x in inputs:
            x.requires_grad_()
        sum((y * y).sum() + y.sum() for y in tensors(f(*arguments))).backward()
        found.append([x.grad for x in inputs])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("is_neox", [False, True])
@pytest.mark.parametrize("inverse", [False, True])
def test_rotary_embedding(is_neox: bool, inverse: bool) -> None:
    arguments = (*cases()["rotary_embedding"][1], is_neox, inverse)
    torch.testing.assert_close(graded.rotary_embedding(*arguments), rotary_embedding(*arguments))


def test_training_compiled() -> None:
    """A step of torch.compile: one graph, with the same gradients."""
    torch.manual_seed(0)
    weight = torch.randn(8)
    x = torch.randn(3, 16)

    def loss(w: torch.Tensor) -> torch.Tensor:
        return graded.rms_norm(graded.silu_and_mul(x), w, 1e-6).square().sum()

    eager, compiled = weight.clone().requires_grad_(), weight.clone().requires_grad_()
    loss(eager).backward()
    torch.compile(loss, backend="aot_eager", fullgraph=True)(compiled).backward()
    torch.testing.assert_close(compiled.grad, eager.grad)
