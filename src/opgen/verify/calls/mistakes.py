"""Change a call that is accepted in one place, so that it is refused, or nearly: calls with a mistake."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from opgen.verify.calls.specs import Call, TensorSpec, at, elements, places, put
from opgen.verify.properties.common import as_dtype, explicit
from opgen.verify.subjects import Subject

# Numbers that kernels forget: small, as loops over them may be long.
_NUMBERS = (-1, 0, -3, 7, 1000)
_DTYPES = ("float32", "int64", "bool", "complex64")


def with_mistakes(subject: Subject, call: Call) -> Iterator[Call]:
    """Yield changed calls, those first that kernels check least."""
    nullable = [a.name for a in subject.arguments if a.type.is_nullable()]
    found = list(places(call))
    for name, value in call.items():
        if isinstance(value, list) and len(value) > 1 and isinstance(value[-1], TensorSpec):
            # Kernels that check one tensor after the other have written the others.
            for made in _other_shapes(value[-1]):
                yield {**call, name: [*value[:-1], made]}
    for name, value in call.items():
        if isinstance(value, int) and not isinstance(value, bool):
            for number in _NUMBERS:
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
        for dtype in _DTYPES:
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
