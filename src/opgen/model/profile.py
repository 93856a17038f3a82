"""The rules that apply to an operator: torchgen's, or those of PyTorch's runtime."""

from __future__ import annotations

from enum import Enum, auto


class Profile(Enum):
    """Which rules apply to an entry.

    `torchgen`: those of PyTorch's own code generator, for namespace `aten` and under `--strict-torchgen`.
    `library`: those of PyTorch's runtime schema parser and of its registry, for every other namespace.
    """

    torchgen = auto()
    library = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__
