"""Train a small network on pocket, and the same one on the CPU, and compare the losses."""

from __future__ import annotations

import pocket
import torch
from torch import nn


def train(device: str, make_optimizer, steps: int = 20) -> list[float]:
    """Return the losses of `steps` training steps. The numbers are the same for all devices."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
    inputs, labels = torch.randn(32, 8).to(device), torch.randint(0, 4, (32,)).to(device)
    optimizer = make_optimizer(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    for name, make in (
        ("SGD", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
        ("Adam", lambda p: torch.optim.Adam(p, lr=0.01)),
    ):
        ours, theirs = train("pocket", make), train("cpu", make)
        apart = max(abs(a - b) for a, b in zip(ours, theirs))
        print(
            f"{name}: loss {ours[0]:.4f} to {ours[-1]:.4f}, equal to the CPU within 1e-5: {apart < 1e-5}"
        )
    print(
        "run on the CPU, because there is no kernel:",
        ", ".join(sorted(pocket.fallbacks())) or "nothing",
    )


main()
