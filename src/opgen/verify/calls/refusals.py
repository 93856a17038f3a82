"""What refusals say in words: which shapes and dtypes an operator wants.

Operators that accept no drawn call often say why: "rois must have shape as Tensor[K, 5]", "boxes should be a 2d tensor,
got 1D", "targets must be int32 type". Calls that are drawn afterwards follow these words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from opgen.verify.calls.specs import DTYPES, Call, TensorSpec

# What follows these words describes the refused call, or is advice.
_REST = re.compile(r"\b(but|got|while|instead|Could)\b")
_WANTED = re.compile(
    r"\b(must|should|expect|expects|expected|supports?|needs?|requires?)\b", re.IGNORECASE
)
_SHAPE = re.compile(r"[\[(]\s*([\w ]+(?:,\s*[\w ]+)*),?\s*[\])]")
_RANK = re.compile(
    r"\b(\d)\s*-?\s*d(?:im(?:s|ensions?|ensional)?)?\b|\b(?:ndimension|dim)\(\) == (\d)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\b(\d+) elements in dimension (\d)")
_RANGE = re.compile(
    r"Dimension out of range \(expected to be in range of \[-(\d+), \d+\], but got (\d+)\)"
)
_DTYPE = re.compile(rf"\b({'|'.join(DTYPES)})\b")
_SAME = re.compile(r"\bsame (?:d?type|scalar type)\b")
_NOT_NEGATIVE = re.compile(
    r"non-negative|negative dimension|\bnegative\b|greater than or equal to 0"
)
_LETTERS = "abcdefgh"


class Wishes(Struct):
    """What an operator said about its tensors, by the names of arguments.

    `shapes` are sizes: numbers, or words that stand for the same size everywhere. `dtypes` are names of dtypes, or "main"
    for that of the call. With `no_negatives`, some integer must not be negative.
    """

    shapes: dict[str, tuple[str, ...]] = {}
    dtypes: dict[str, tuple[str, ...]] = {}
    no_negatives: bool = False

    def hear(self, message: str, call: Call, arguments: Sequence[str]) -> None:
        """Take what one refusal says. `arguments` are the names of those that are tensors."""
        text = message[: found.start()] if (found := _REST.search(message)) else message
        if _NOT_NEGATIVE.search(text):
            self.no_negatives = True
        named = [name for name in arguments if re.search(rf"\b{name}(?:_[a-z])?\b", text)]
        if _SAME.search(text):
            self.dtypes.update(dict.fromkeys(named, ("main",)))
            return
        if outside := _RANGE.search(message):
            # The kernel asks for the size of a dimension that some tensor lacks.
            rank, wanted = int(outside[1]), int(outside[2]) + 1
            self._want_rank(_first(call, arguments, lambda spec: len(spec.shape) == rank), wanted)
            return
        if dtypes := tuple(_DTYPE.findall(text)):
            self.dtypes.update(dict.fromkeys(named, dtypes))
            return
        if size := _SIZE.search(text):
            self._want_size(named, call, arguments, int(size[2]), size[1])
        elif named and _WANTED.search(text) and (shape := _SHAPE.search(text)):
            words = tuple("_".join(word.split()) for word in shape[1].split(","))
            self.shapes.update(dict.fromkeys(named[:1], words))
        elif rank_ := _RANK.search(text):
            rank = int(rank_[1] or rank_[2])
            other = _first(call, named or arguments, lambda spec: len(spec.shape) != rank)
            self._want_rank(other, rank)

    def _want_rank(self, name: str | None, rank: int) -> None:
        if name is not None and rank <= len(_LETTERS):
            known = self.shapes.get(name, ())
            self.shapes[name] = (*known, *_LETTERS)[:rank] if len(known) != rank else known

    def _want_size(
        self, named: Sequence[str], call: Call, arguments: Sequence[str], dim: int, size: str
    ) -> None:
        def lacks(spec: TensorSpec) -> bool:
            return len(spec.shape) > dim and spec.shape[dim] != int(size)

        name = _first(call, named or arguments, lacks)
        if name is not None and dim < len(_LETTERS):
            known = list(self.shapes.get(name, ()))
            known += _LETTERS[len(known) : dim + 1]
            known[dim] = size
            self.shapes[name] = tuple(known)


def _first(call: Mapping[str, Any], names: Sequence[str], fits: Any) -> str | None:
    """Return the first tensor argument that fits: kernels check their arguments in order."""
    for name in names:
        value = call.get(name)
        if isinstance(value, TensorSpec) and fits(value):
            return name
    return None
