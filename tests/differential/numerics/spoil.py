"""Make invalid inputs from a valid one: in each, one argument that no call may accept.

Kinds: a dimension or an index out of range, a negative size, sizes with more elements than 64 bits count, a tensor on
another device, an index of a floating type, and an out argument whose elements all share one address, or whose dtype
the result cannot be cast to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from differential.numerics.values import (
    BY_NAME,
    FLOAT32,
    TensorValue,
    Value,
    contiguous_strides,
    elements,
)
from opgen.model.function_schema import Argument, FunctionSchema
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType

# Beyond every dimension that is drawn.
FAR = 10_000
DIMS = frozenset(
    {"dim", "dims", "dim0", "dim1", "dim2", "axis0", "axis1", "start_dim", "end_dim", "source"}
    | {"destination", "diagonal_dim", "normalized_dim"}
)
SIZES = frozenset({"size", "shape", "output_size", "sizes"})


@dataclass(frozen=True, slots=True)
class Spoilt:
    """The replacement for one argument; `device`: where to make it."""

    kind: str
    argument: str
    value: Value
    device: str = "cpu"


def spoilt(schema: FunctionSchema, good: Mapping[str, Value]) -> Iterator[Spoilt]:
    """Return what can be made invalid in a valid input, except out arguments."""
    arguments = [a for a in schema.arguments.flat_non_out if a.name in good]
    tensors = [good[a.name] for a in arguments if isinstance(good[a.name], TensorValue)]
    # Numbers, which are tensors without dimensions, may stay on the CPU.
    none_is_a_number = all(t.sizes and elements(t.sizes) for t in tensors)
    for argument in arguments:
        name, value = argument.name, good[argument.name]
        if name in DIMS:
            yield from _far_dims(argument, value)
        elif name == "index" and _is_int(argument.type):
            yield Spoilt("index", name, FAR)
        elif name in SIZES and isinstance(value, tuple):
            yield Spoilt("negative size", name, (-7, *value[1:]) if value else (-7,))
            yield Spoilt("too many elements", name, (1 << 40,) * max(2, len(value)))
        if isinstance(value, TensorValue) and len(tensors) > 1 and none_is_a_number:
            yield Spoilt("device", name, value, "meta")
        count = elements(value.sizes) if isinstance(value, TensorValue) else 0
        if (
            isinstance(value, TensorValue)
            and count
            and name == "index"
            and value.dtype is BY_NAME["int64"]
        ):
            floats = TensorValue(
                FLOAT32, value.sizes, contiguous_strides(value.sizes), 0, bytes(4 * count)
            )
            yield Spoilt("index of a floating type", name, floats)


def spoilt_out(name: str, right: TensorValue) -> Iterator[Spoilt]:
    """Return what can be made invalid in an out argument of the right shape and dtype."""
    one_place = (0,) * len(right.sizes)
    if elements(right.sizes) > 1:
        yield Spoilt("elements in one place", name, _filled(right, one_place))
    if right.dtype is not BY_NAME["bool"]:
        narrow = TensorValue(BY_NAME["bool"], right.sizes, right.strides, 0, bytes(1))
        yield Spoilt("dtype of the result", name, _filled(narrow, right.strides))


def _filled(like: TensorValue, strides: tuple[int, ...]) -> TensorValue:
    room = bytes(like.dtype.itemsize * max(1, elements(like.sizes)))
    return TensorValue(like.dtype, like.sizes, strides, 0, room)


def _far_dims(argument: Argument, value: Value) -> Iterator[Spoilt]:
    if _is_int(argument.type):
        yield Spoilt("dimension", argument.name, FAR)
        yield Spoilt("dimension", argument.name, -FAR)
    elif isinstance(value, tuple) and value:
        yield Spoilt("dimension", argument.name, (FAR, *value[1:]))


def _is_int(type_: object) -> bool:
    match type_:
        case BaseType(BaseTy.int | BaseTy.SymInt):
            return True
        case OptionalType(inner):
            return _is_int(inner)
        case ListType():
            return False
        case _:
            return False
