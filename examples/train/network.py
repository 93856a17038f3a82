"""The network and its data: the same for opgen's runtime and PyTorch.

A batch contains tables with four rows, each a key and a value, and asks in each for the value of one key. The network
turns questions, keys and values into vectors, and finds the value by attention.
"""

from __future__ import annotations

import math
from typing import Any

KEYS = VALUES = 4
WIDTH = 16
BATCH = 32
RATE, MOMENTUM = 0.05, 0.9
STEPS = 100

Matrix = list[list[float]]
# Tables of shape [BATCH, KEYS, KEYS + VALUES], questions of shape [BATCH, 1, KEYS], answers of shape [BATCH, 1].
Batch = tuple[list[Matrix], list[Matrix], list[list[int]]]


class Numbers:
    """Random numbers that C++ and Python can make alike: a linear congruential generator of 32 bits."""

    def __init__(self) -> None:
        self._state = 1

    def _next(self) -> int:
        self._state = (self._state * 1664525 + 1013904223) % 2**32
        return self._state

    def below(self, n: int) -> int:
        return (self._next() >> 16) % n

    def weight(self) -> float:
        """Return a number between -1 and 1."""
        return (self._next() >> 8) / 2**23 - 1


def matrix(numbers: Numbers, rows: int, columns: int) -> Matrix:
    scale = math.sqrt(3 / columns)
    return [[numbers.weight() * scale for _ in range(columns)] for _ in range(rows)]


def initial_weights(numbers: Numbers) -> list[Any]:
    """Return the weights of the layers, as lists, in the order in which `loss` uses them."""
    return [
        matrix(numbers, WIDTH, KEYS),
        matrix(numbers, WIDTH, KEYS + VALUES),
        matrix(numbers, WIDTH, KEYS + VALUES),
        [1.0] * WIDTH,
        [0.0] * WIDTH,
        matrix(numbers, 2 * WIDTH, WIDTH),
        [0.0] * (2 * WIDTH),
        matrix(numbers, VALUES, 2 * WIDTH),
        [0.0] * VALUES,
    ]


def zeros_like(values: Any) -> Any:
    """Return a list of lists of the same lengths, filled with zeros."""
    return [zeros_like(value) for value in values] if isinstance(values, list) else 0.0


def one_hot(index: int, size: int) -> list[float]:
    return [float(i == index) for i in range(size)]


def random_batch(numbers: Numbers) -> Batch:
    tables, questions, answers = [], [], []
    for _ in range(BATCH):
        keys = list(range(KEYS))
        for i in range(KEYS - 1, 0, -1):
            j = numbers.below(i + 1)
            keys[i], keys[j] = keys[j], keys[i]
        values = [numbers.below(VALUES) for _ in keys]
        wanted = numbers.below(KEYS)
        tables.append([one_hot(k, KEYS) + one_hot(v, VALUES) for k, v in zip(keys, values)])
        questions.append([one_hot(wanted, KEYS)])
        answers.append([values[keys.index(wanted)]])
    return tables, questions, answers


def loss(ops: Any, weights: list[Any], tables: Any, questions: Any, answers: Any) -> Any:
    """Return the loss, computed by the operators of `ops`: the package lookup."""
    query, key, value, scale, shift, up, up_bias, down, down_bias = weights
    found, _ = ops.attention(
        ops.linear(questions, query), ops.linear(tables, key), ops.linear(tables, value)
    )
    normal = ops.layer_norm(found, scale, shift)
    hidden = ops.gelu(ops.add(ops.linear(normal, up), up_bias))
    return ops.cross_entropy(ops.add(ops.linear(hidden, down), down_bias), answers)
