"""Change a call that is accepted so that it meets what kernels get wrong: sizes near vectors, special numbers, flags, mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from opgen.model.types import BaseTy, ListType
from opgen.verify.calls.specs import (
    Call,
    TensorSpec,
    as_dtype,
    at,
    each_tensor,
    elements,
    explicit,
    places,
    put,
    tensors,
    with_sizes,
)
from opgen.verify.subjects import Subject

# Whole vectors of 4, 8, 16 and 32 elements, and one more or less; and one that is large.
_SIZES = (4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1027)
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
    for argument in subject.inputs:
        if argument.type.is_base_ty_like(BaseTy.bool) and not argument.type.is_list_like():
            yield {**call, argument.name: not call.get(argument.name)}
    for argument in subject.inputs:
        value = call.get(argument.name)
        if argument.type.is_tensor_like() and isinstance(value, list) and value:
            yield from _uneven(call, argument.name)
            if isinstance(argument.type, ListType) and argument.type.elem.is_nullable():
                yield {**call, argument.name: [None, *value[1:]]}
    shapes = {spec.shape for spec in tensors(call)}
    is_free = not subject.domain.shapes and all(s.values is None for s in tensors(call))
    if len(shapes) == 1 and is_free:
        for rank in range(6):
            yield each_tensor(call, lambda s, r=rank: replace(s, shape=(2, 3, 2, 2, 1)[:r], values=None))  # type: ignore[misc]
    sizes = dict.fromkeys(size for shape in shapes for size in shape)
    for place in places(call):
        spec = at(call, place)
        if spec.shape and spec.shape[-1] > 1 and is_free and len(list(places(call))) > 1:
            # Smaller than the others.
            for size in {1, spec.shape[-1] - 1}:
                yield put(call, place, replace(spec, shape=(*spec.shape[:-1], size)))
        if spec.is_integer and spec.count and spec.dtype != "uint8" and is_free:
            # The last index is the first one that is out of range.
            for number in [n for size in sizes for n in (size, -size - 1)][:6]:
                numbers = np.append(elements(spec).ravel()[:-1], number)
                yield put(call, place, explicit(spec, numbers.reshape(spec.shape)))
    yield from with_special_numbers(subject, call)


def _uneven(call: Call, name: str) -> Iterator[Call]:
    """Yield the call with one tensor in its lists, and with three, of which one has another size, or no elements."""
    count = len(call[name])
    lists = {n: v for n, v in call.items() if isinstance(v, list) and len(v) == count}
    three = {n: [value[i % count] for i in range(3)] for n, value in lists.items()}
    # What is cut in all lists, or in this one only.
    for names in dict.fromkeys(((name,), tuple(three))):
        yield {**call, **{n: call[n][:1] for n in names}}
        for size in (1, 0):
            for place in (0, 1):
                cut = {n: list(three[n]) for n in names}
                for values in cut.values():
                    values[place] = _cut(values[place], size)
                yield {**call, **three, **cut}


def _cut(value: Any, size: int) -> Any:
    """Return a tensor with another size of its first dimension; other values as they are."""
    if not isinstance(value, TensorSpec) or not value.shape:
        return value
    return replace(value, shape=(size, *value.shape[1:]), values=None)


def swept_sizes(subject: Subject, call: Call) -> Iterator[Call]:
    """Yield the call with other sizes, some also with special numbers; the operator may refuse them."""
    largest = max(tensors(call), key=lambda s: s.count, default=None)
    if largest is None or largest.count < 2:
        return
    size = largest.shape[-1] if largest.shape[-1] > 1 else max(largest.shape)
    for other in _SIZES:
        changed = with_sizes(call, {size: other})
        if other == size or any(s.count > _MOST_ELEMENTS for s in tensors(changed)):
            continue
        if other > 33:
            # Some kernels write only what is negative.
            changed = each_tensor(changed, partial(_of_both_signs, subject))
        yield changed
        if other in (17, 33):
            yield from with_special_numbers(subject, changed, other // 8)


def _of_both_signs(subject: Subject, spec: TensorSpec) -> TensorSpec:
    if not spec.is_float or subject.domain.arguments or subject.domain.make is not None:
        return spec
    return replace(spec, fill=replace(spec.fill, low=-2.0, high=2.0))


def with_special_numbers(subject: Subject, call: Call, most: int = len(_SPECIAL)) -> Iterator[Call]:
    """Yield the call with infinities, NaN, -0.0 and denormal numbers, at most so often."""
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
    for numbers in _SPECIAL[:most]:
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


# Numbers that kernels forget: small, as loops over them may be long.
_WRONG_NUMBERS = (-1, 0, -3, 7, 1000)
_OTHER_DTYPES = ("float32", "int64", "bool", "complex64")


def with_mistakes(subject: Subject, call: Call) -> Iterator[Call]:
    """Yield calls that are refused, or nearly: with a mistake in one place, those first that kernels check least."""
    nullable = [a.name for a in subject.arguments if a.type.is_nullable()]
    found = list(places(call))
    for name, value in call.items():
        if isinstance(value, list) and len(value) > 1 and isinstance(value[-1], TensorSpec):
            # Kernels that check one tensor after the other have written the others.
            for made in _other_shapes(value[-1]):
                yield {**call, name: [*value[:-1], made]}
    for name, value in call.items():
        if isinstance(value, int) and not isinstance(value, bool):
            for number in _WRONG_NUMBERS:
                if number != value:
                    yield {**call, name: number}
        elif name in nullable and value is not None:
            yield {**call, name: None}
    for name in nullable:
        if name not in call:
            yield {**call, name: None}
    for place in found:
        spec = at(call, place)
        if spec.is_integer and spec.count:
            # The last index is out of range: kernels that check while they write have written the others.
            numbers = elements(spec).ravel().copy()
            for wrong in (100, -100):
                if spec.dtype != "uint8" or wrong > 0:
                    numbers[-1] = wrong
                    yield put(call, place, explicit(spec, numbers.reshape(spec.shape)))
    for place in found:
        spec = at(call, place)
        if spec.values is None:
            yield from (put(call, place, made) for made in _other_shapes(spec))
    for place in found:
        spec = at(call, place)
        for dtype in _OTHER_DTYPES:
            if dtype != spec.dtype:
                yield put(call, place, as_dtype(spec, dtype))
    for name, value in call.items():
        if isinstance(value, list) and value:
            yield {**call, name: value[:-1]}
            if not isinstance(value[0], TensorSpec):
                yield {**call, name: [*value, value[-1]]}
                if isinstance(value[0], int):
                    yield {**call, name: [*value[:-1], -2]}


def _other_shapes(spec: TensorSpec) -> Iterator[TensorSpec]:
    if spec.shape:
        yield replace(spec, shape=(*spec.shape[:-1], spec.shape[-1] + 1))
        yield replace(spec, shape=spec.shape[:-1])
        yield replace(spec, shape=(spec.shape[0] + 2, *spec.shape[1:]))
    yield replace(spec, shape=(2, *spec.shape))
