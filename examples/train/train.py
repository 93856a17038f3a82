"""Train the network of network.py with the operators of lookup, and print the loss before each step.

    python train.py runtime [GRAPH.svg]
    python train.py torch

`import lookup` must find the package for opgen's runtime, or that for PyTorch. For the runtime, the script also draws the
graph that autograd recorded in the first step.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from network import (
    MOMENTUM,
    RATE,
    STEPS,
    Numbers,
    initial_weights,
    loss,
    random_batch,
    zeros_like,
)


def train(framework: Any, graph: Path | None = None) -> Iterator[float]:
    """Train with the operators of lookup on the tensors of `framework`, which is torch, or lookup itself."""
    ops = importlib.import_module("lookup")
    numbers = Numbers()
    start = initial_weights(numbers)
    weights = [framework.tensor(values).requires_grad_() for values in start]
    velocities = [framework.tensor(zeros_like(values)) for values in start]
    for _ in range(STEPS):
        batch = [framework.tensor(part) for part in random_batch(numbers)]
        result = loss(ops, weights, *batch)
        if graph:
            graph.write_text(ops.autograd.graph.as_svg(result))
            graph = None
        yield result.item()
        result.backward()
        with framework.no_grad():
            for weight, velocity in zip(weights, velocities):
                ops.sgd_(weight, velocity, weight.grad, RATE, MOMENTUM)
                weight.grad = None


def main() -> None:
    what, *files = sys.argv[1:]
    framework = importlib.import_module("torch" if what == "torch" else "lookup")
    for value in train(framework, *map(Path, files)):
        print(f"{value:.8f}")


if __name__ == "__main__":
    main()
