"""The rules that apply to an operator: torchgen's, or those of PyTorch's runtime."""

from __future__ import annotations

from enum import Enum, auto

# The namespace of PyTorch's own operators, whose C++ namespace is `at`.
ATEN = "aten"


def operator_namespace(namespace: str) -> str:
    """Return the C++ namespace of a schema namespace: `at` for `aten`, and the same name for any other."""
    return "at" if namespace == ATEN else namespace


class Profile(Enum):
    """The set of rules that applies to an entry.

    `torchgen`: those of PyTorch's own code generator, for namespace `aten` and under `--strict-torchgen`.
    `library`: those of PyTorch's runtime schema parser and of its registry, for every other namespace.
    """

    torchgen = auto()
    library = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__
