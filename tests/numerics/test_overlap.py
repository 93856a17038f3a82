"""Two views of one memory, written and read: refused where PyTorch refuses them, equal where it does not."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from numerics.driver import Library, OperatorError
from numerics.values import Array

COUNT = 3000
PLACES = 24


def _view(random: np.random.Generator, sizes: tuple[int, ...]) -> tuple[list[int], int]:
    """Strides and an offset that stay inside of the memory; often those of a dense or transposed matrix."""
    while True:
        strides = [int(step) for step in random.choice((0, 1, 1, 2, 3, 4, 6), len(sizes))]
        offset = int(random.integers(0, 5))
        last = offset + sum((size - 1) * step for size, step in zip(sizes, strides))
        if last < PLACES:
            return strides, offset


def _touched(order: Array, sizes: tuple[int, ...], strides: list[int], offset: int) -> set[int]:
    steps = [step * order.itemsize for step in strides]
    return set(np.ndarray(sizes, order.dtype, order, offset * order.itemsize, steps).flat)


@pytest.mark.usefixtures("torch_installed")
def test_views_that_overlap_are_judged_as_in_pytorch(library: Library) -> None:
    """An operand that is overwritten before it is read gives wrong numbers in silence; one that is merely near
    must not be refused."""
    torch: Any = importlib.import_module("torch")
    random = np.random.default_rng(5)
    numbers = np.arange(PLACES, dtype=np.float32) + 1
    refused = compared = 0
    for _ in range(COUNT):
        sizes = ((6,), (2, 3), (3, 2), (2, 2, 2))[random.integers(4)]
        places = [_view(random, sizes) for _ in range(2)]
        if random.integers(4) == 0:
            places[1] = places[0]
        memory = torch.from_numpy(numbers.copy())
        to, by = (memory.as_strided(sizes, *place) for place in places)
        base = library.make(numbers.copy())
        ours, other = (library.view(base, sizes, tuple(s), o) for s, o in places)
        try:
            to.mul_(by)
            wanted = memory.numpy()
        except RuntimeError:
            wanted = None
            refused += 1
        what = (sizes, places)
        try:
            library.call_handles("aten::mul_.Tensor", {"self": ours, "other": other})
        except OperatorError as error:
            assert wanted is None, f"{what}: PyTorch takes it, ours says {error}"
            continue
        assert wanted is not None, f"{what}: PyTorch refuses it"
        # What neither looks into, views with gaps, may still meet: then the order of writing shows.
        order = np.arange(PLACES)
        written, read = (_touched(order, sizes, *place) for place in places)
        once = len(written) == np.prod(sizes)
        if once and (places[0] == places[1] or not written & read):
            compared += 1
            assert (library.tensor(base).array() == wanted).all(), what
    assert compared > COUNT // 20, f"{compared} of {COUNT} results were compared"
    assert COUNT // 10 < refused < COUNT * 9 // 10, f"{refused} of {COUNT} were refused"
