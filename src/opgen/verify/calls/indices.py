"""Indices that occur twice: what is written to the same place twice depends on the order in which elements are visited.

`index_put` and `scatter` leave open which of the elements counts, and PyTorch's formulas give a gradient to each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from opgen.verify.calls.elements import Array, elements
from opgen.verify.calls.specs import Call, Place, TensorSpec, at, places, put

REPEATED = "an index occurs twice, and elements are overwritten by others"


def has_repeated_indices(call: Call) -> bool:
    """Whether an integer tensor of the call has two equal elements."""
    return any(_is_repeated(at(call, place)) for place in places(call))


def with_distinct_indices(call: Call) -> Iterator[Call]:
    """Yield calls in which no two places have the same indices. The operator may refuse them, as out of range."""
    found = [place for place in places(call) if _is_repeated(at(call, place))]
    yield _numbered(call, [(place, np.arange(at(call, place).count)) for place in found])
    shape = at(call, found[0]).shape if found else ()
    if len(found) > 1 and all(at(call, place).shape == shape for place in found):
        # Each tensor counts along a dimension of its own: together, they are different everywhere.
        axes = [axis for axis, size in enumerate(shape) if size > 1]
        if len(axes) <= len(found):
            positions = [np.indices(shape)[axis].ravel() for axis in axes]
            positions += [positions[-1]] * (len(found) - len(axes))
            yield _numbered(call, list(zip(found, positions)))


def _numbered(call: Call, numbers: Sequence[tuple[Place, Array]]) -> Call:
    """Return the call with other elements of some tensors."""
    for place, values in numbers:
        call = put(call, place, replace(at(call, place), values=tuple(values.tolist())))
    return call


def _is_repeated(spec: TensorSpec) -> bool:
    return spec.is_integer and len(set(elements(spec).ravel().tolist())) < spec.count
