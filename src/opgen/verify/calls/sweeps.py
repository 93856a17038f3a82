"""Change a call that is accepted so that it meets what kernels get wrong: sizes near vectors, special numbers, defaults."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from opgen.model.types import BaseTy
from opgen.verify.calls.specs import Call, TensorSpec, at, elements, places, put
from opgen.verify.properties.common import explicit, with_sizes
from opgen.verify.subjects import Subject

# Whole vectors of 4, 8, 16 and 32 elements, and one more or less.
_SIZES = (4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33)
# Tensors with more elements take long.
_MOST_ELEMENTS = 4096
# Numbers that kernels forget. None occurs twice in a tensor: which of two equal ones is found first is not specified.
_SPECIAL = (
    (float("inf"), float("nan"), -0.0),
    (float("nan"), float("-inf"), 1e-40),
    (-0.0, float("inf")),
    (1e-40, float("-inf")),
)


def swept(subject: Subject, call: Call) -> Iterator[Call]:
    """Yield changed calls; the operator may refuse them."""
    optional = {a.name for a in subject.arguments if a.default is not None}
    if optional & set(call):
        yield {name: value for name, value in call.items() if name not in optional}
    for argument in subject.inputs:
        if argument.type.is_base_ty_like(BaseTy.bool) and not argument.type.is_list_like():
            yield {**call, argument.name: not call.get(argument.name)}
    for name, value in call.items():
        if isinstance(value, list) and len(value) > 1 and isinstance(value[0], TensorSpec):
            # The first one is smaller than the others, or one has no elements.
            for other in (1, 0):
                for place in {0, len(value) // 2}:
                    yield {
                        **call,
                        name: [_cut(v, other) if i == place else v for i, v in enumerate(value)],
                    }
    yield from _special(subject, call, _SPECIAL)


def _cut(spec: TensorSpec, size: int) -> TensorSpec:
    """Return the tensor with another size of its first dimension."""
    return replace(spec, shape=(size, *spec.shape[1:]), values=None) if spec.shape else spec


def swept_sizes(subject: Subject, call: Call) -> Iterator[Call]:
    """Yield the call with other sizes, some also with special numbers; the operator may refuse them."""
    largest = max((at(call, place) for place in places(call)), key=lambda s: s.count, default=None)
    if largest is None or largest.count < 2:
        return
    size = largest.shape[-1] if largest.shape[-1] > 1 else max(largest.shape)
    for other in _SIZES:
        changed = with_sizes(call, {size: other})
        if other == size or any(at(changed, p).count > _MOST_ELEMENTS for p in places(changed)):
            continue
        yield changed
        if other in (17, 33):
            yield from _special(subject, changed, _SPECIAL[: other // 8])


def _special(
    subject: Subject, call: Call, choices: tuple[tuple[float, ...], ...]
) -> Iterator[Call]:
    found = [
        place
        for place in places(call)
        if at(call, place).is_float
        and at(call, place).count > 1
        and at(call, place).values is None
        and place[0] not in subject.domain.arguments
    ]
    if not found:
        return
    for numbers in choices:
        changed = call
        for shift, place in enumerate(found):
            changed = put(changed, place, _with_numbers(at(call, place), numbers, shift))
        yield changed


def _with_numbers(spec: TensorSpec, numbers: tuple[float, ...], shift: int) -> TensorSpec:
    """Return the tensor with some numbers: the first one is its last element, the others are spread."""
    flat = elements(spec).ravel().copy()
    for index, number in enumerate(numbers[: len(flat)]):
        flat[-1 - (index * (len(flat) // len(numbers)) + shift) % len(flat)] = number
    return explicit(spec, flat.astype(np.float64).reshape(spec.shape))
