"""How the arguments of a call are drawn.

A *plan* has words for each argument: "as large as the others", "a vector of the last size", "None". Plans whose calls an
operator accepts are drawn again, with other sizes and values, so that few calls are refused. The key "" has the number of
dimensions that "as large as the others" stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from opgen.drawing.choices import Choices

Plan: TypeAlias = dict[str, tuple[str, ...]]

RANKS = (0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4)
SHAPES = (
    *("full",) * 8,
    *("last",) * 3,
    *("first",) * 2,
    *("scalar",) * 2,
    *("ones",) * 2,
    *("without last", "without first"),
    *("vector", "vector", "matrix", "any, last", "first, any", "last, any"),
)


def shape_of(word: str, base: Sequence[int], choices: Choices) -> tuple[int, ...]:
    """Return the shape that a word of SHAPES stands for, if the other tensors have the shape `base`."""
    base = tuple(base)
    fresh = choices.integer(1, 4)
    if word in ("full", "scalar"):
        return base if word == "full" else ()
    if word == "ones":
        kept = [size if choices.chance(0.5) else 1 for size in base]
        return tuple(kept[choices.integer(0, len(kept)) :] if choices.chance(0.5) else kept)
    if word in ("last", "first"):
        return base[-1:] if word == "last" else base[:1]
    if word in ("without last", "without first"):
        return base[:-1] if word == "without last" else base[1:]
    ends = base or (1,)
    return {
        "vector": (fresh,),
        "matrix": (fresh, choices.integer(1, 3)),
        "any, last": (fresh, ends[-1]),
        "first, any": (ends[0], fresh),
        "last, any": (ends[-1], fresh),
    }[word]


def product(sizes: Sequence[int]) -> int:
    """Return the number of elements of a shape."""
    count = 1
    for size in sizes:
        count *= size
    return count
