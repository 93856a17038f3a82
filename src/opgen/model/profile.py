"""The rules that an operator is read by: torchgen's, or those of PyTorch's runtime."""

from __future__ import annotations

from enum import Enum, auto


class Profile(Enum):
    """Which rules hold for an entry.

    `torchgen`: those of PyTorch's own code generator, for namespace `aten` and under `--strict-torchgen`.
    `library`: those of PyTorch's runtime schema parser and of its registry, for every other namespace.
    """

    torchgen = auto()
    library = auto()

    # In C, by identity: Enum's own goes through Python.
    __hash__ = object.__hash__
