"""Train the network of network.py, written with torch.nn, and print the loss before each step."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from network import (
    KEYS,
    MOMENTUM,
    RATE,
    STEPS,
    VALUES,
    WIDTH,
    Numbers,
    initial_weights,
    random_batch,
)
from torch import nn


class Lookup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(KEYS, WIDTH, bias=False)
        self.key = nn.Linear(KEYS + VALUES, WIDTH, bias=False)
        self.value = nn.Linear(KEYS + VALUES, WIDTH, bias=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, VALUES)

    def forward(self, tables: torch.Tensor, questions: torch.Tensor) -> torch.Tensor:
        found = F.scaled_dot_product_attention(
            self.query(questions), self.key(tables), self.value(tables)
        )
        logits: torch.Tensor = self.down(F.gelu(self.up(self.norm(found))))
        return logits


def train() -> Iterator[float]:
    numbers = Numbers()
    network = Lookup()
    with torch.no_grad():
        for weight, values in zip(network.parameters(), initial_weights(numbers), strict=True):
            weight.copy_(torch.tensor(values))
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM)
    for _ in range(STEPS):
        tables, questions, answers = (torch.tensor(part) for part in random_batch(numbers))
        result = F.cross_entropy(network(tables, questions).flatten(0, 1), answers.flatten())
        yield result.item()
        optimizer.zero_grad()
        result.backward()
        optimizer.step()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.8f}")
