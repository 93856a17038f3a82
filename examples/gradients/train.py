"""Train a small network twice, with the operators of graded and with PyTorch's functions, and print both losses.

    python train.py [STEPS]

The network classifies points of two spirals: a linear layer, rms_norm, silu_and_mul, and another linear layer. The
initial weights are random numbers from a fixed seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import graded
import torch
import torch.nn.functional as F
from torch import Tensor

Layer = Callable[..., Tensor]
WIDTH = 32


def spirals(points: int) -> tuple[Tensor, Tensor]:
    """Return coordinates of shape [2 points, 3], the last of which is 1, and classes, 0 or 1."""
    radius = torch.linspace(0.1, 1, points)
    angle = 6 * radius
    arm = radius[:, None] * torch.stack([angle.cos(), angle.sin()], -1)
    both = F.pad(torch.cat([arm, -arm]), (0, 1), value=1.0)
    return both, torch.arange(2).repeat_interleave(points)


def initial_weights() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    sizes = ((3, 2 * WIDTH), (2 * WIDTH,), (WIDTH, 2))
    first, scale, last = (torch.randn(size, generator=generator) for size in sizes)
    return [w.requires_grad_() for w in (first, 1 + scale / 10, last / WIDTH**0.5)]


def train(rms_norm: Layer, silu_and_mul: Layer, steps: int) -> list[float]:
    """Return the loss before each step of gradient descent."""
    points, classes = spirals(64)
    weights = initial_weights()
    optimizer = torch.optim.SGD(weights, lr=0.2, momentum=0.9)
    losses = []
    for _ in range(steps):
        first, scale, last = weights
        hidden = silu_and_mul(rms_norm(points @ first, scale, 1e-6))
        loss = F.cross_entropy(hidden @ last, classes)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def torch_rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return F.rms_norm(x, x.shape[-1:], weight, eps)


def torch_silu_and_mul(x: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def both(steps: int) -> tuple[list[float], list[float]]:
    """Return the losses with the operators of graded, and those with PyTorch's functions."""
    ours = train(graded.rms_norm, graded.silu_and_mul, steps)
    return ours, train(torch_rms_norm, torch_silu_and_mul, steps)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    ours, theirs = both(steps)
    for step in range(0, steps, 10):
        print(f"step {step:3}: loss {ours[step]:.6f}, with PyTorch's functions {theirs[step]:.6f}")
    difference = max(abs(a - b) for a, b in zip(ours, theirs))
    print(f"The losses of {steps} steps differ by at most {difference:.0e}.")


if __name__ == "__main__":
    main()
