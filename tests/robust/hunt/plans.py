"""One call as plain data: buffers, tensors that lie on them in any way, and arguments. It can be sent to another
process, made with our package or with PyTorch, and printed as a Python program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from differential.numerics.values import (
    BY_NAME,
    Device,
    Dtype,
    GeneratorValue,
    Layout,
    MemoryFormat,
    TensorValue,
    Value,
    elements,
    from_numbers,
)

# The kinds of dtypes that have tangents.
FLOATING = ("float", "complex")
# The limit for one buffer. Plans that need more are not drawn.
LARGEST_BUFFER = 1 << 16


# Without __slots__: a class with them is pickled by Python code, field by field.
@dataclass(frozen=True)
class Ref:
    """A tensor of the plan, by number. The same number twice means the same object."""

    tensor: int


@dataclass(frozen=True)
class Place:
    """A tensor: sizes, strides and offset, in elements, on buffer number `buffer`."""

    buffer: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def end(self) -> int:
        """Return the number of elements from the start of the buffer to its last element; strides are not negative."""
        if 0 in self.sizes:
            return 0
        return self.offset + 1 + sum((n - 1) * s for n, s in zip(self.sizes, self.strides))

    def meets_itself(self) -> bool:
        """Return whether two of its elements share memory, as far as the check can tell."""
        kept = [(n, s) for n, s in zip(self.sizes, self.strides) if n > 1]
        if 0 in self.sizes or elements(self.sizes) > 1 << 14:
            return any(s == 0 for _, s in kept)
        at = np.zeros(1, np.int64)
        for n, s in kept:
            at = (at[:, None] + np.arange(n) * s).ravel()
        return len(np.unique(at)) < len(at)


@dataclass(frozen=True)
class Buffer:
    dtype: str
    content: bytes

    def count(self) -> int:
        return len(self.content) // BY_NAME[self.dtype].itemsize

    def grown(self, count: int) -> Buffer:
        """Return a buffer with at least `count` elements: its own repeated, or zeros if it has none."""
        wanted = count * BY_NAME[self.dtype].itemsize
        if wanted <= len(self.content):
            return self
        source = self.content or bytes(16)
        return replace(self, content=(source * (wanted // len(source) + 1))[:wanted])

    def as_dtype(self, dtype: str) -> Buffer:
        """Return the same bytes, read as another dtype: booleans become 0 or 1."""
        size = BY_NAME[dtype].itemsize
        content = self.content[: len(self.content) // size * size]
        if dtype == "bool":
            content = bytes(byte & 1 for byte in content)
        return Buffer(dtype, content)


@dataclass(frozen=True)
class Plan:
    """A call drawn for overload `operator`; Python's parser may find another one that fits.

    `owner` is "" for a function of the module, "Tensor" for a method, else a submodule; `by_schema`: PyTorch's form is
    torch.ops, with only named arguments; `forward`: every tensor of floats has a tangent (`direction`).
    """

    operator: str
    owner: str
    name: str
    positional: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...]
    buffers: tuple[Buffer, ...]
    tensors: tuple[Place, ...]
    written: frozenset[str] = frozenset()
    by_schema: tuple[tuple[str, Value], ...] | None = None
    unspecified: bool = False
    notes: tuple[str, ...] = ()
    written_tensors: frozenset[int] = field(default_factory=frozenset)
    forward: bool = False

    def arguments(self) -> Iterator[Value]:
        yield from self.positional
        for _, value in self.named:
            yield value

    def overlaps(self) -> bool:
        """Return whether a written buffer is used by more than one argument, or by one that occurs twice."""
        met = [self.tensors[ref.tensor].buffer for ref in refs(list(self.arguments()))]
        written = {self.tensors[number].buffer for number in self.written_tensors}
        return any(met.count(buffer) > 1 for buffer in written)

    def writes_twice(self) -> bool:
        """Return whether two elements of a written tensor share memory, so that their final value is undefined."""
        return any(self.tensors[number].meets_itself() for number in self.written_tensors)

    def with_tangents(self) -> Plan | None:
        """Return the same call in forward mode; None if no tensor can have a tangent, or if tangents would be ambiguous
        because tensors share elements or hold arbitrary bits."""
        used = {ref.tensor for ref in refs(list(self.arguments()))}
        buffers = [self.tensors[number].buffer for number in used]
        shared = len(set(buffers)) < len(buffers) or any(
            self.tensors[number].meets_itself() for number in used
        )
        floats = any(BY_NAME[self.buffers[buffer].dtype].kind in FLOATING for buffer in buffers)
        if shared or not floats or {"content", "dtype", "extreme"} & set(self.notes):
            return None
        return replace(self, forward=True)

    def apart(self) -> Plan:
        """Return the same call with a separate buffer for every argument."""
        buffers: list[Buffer] = []
        tensors: list[Place] = []

        def moved(value: Value) -> Value:
            if isinstance(value, Ref):
                place = self.tensors[value.tensor]
                buffers.append(self.buffers[place.buffer])
                tensors.append(replace(place, buffer=len(buffers) - 1))
                return Ref(len(tensors) - 1)
            if isinstance(value, list | tuple):
                return type(value)(map(moved, value))
            return value

        positional = tuple(map(moved, self.positional))
        named = tuple((key, moved(value)) for key, value in self.named)
        by_schema = self.by_schema and tuple((key, moved(value)) for key, value in self.by_schema)
        return replace(
            self,
            positional=positional,
            named=named,
            by_schema=by_schema,
            buffers=tuple(buffers),
            tensors=tuple(tensors),
        )


def refs(value: Value) -> Iterator[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from refs(item)


def placed(value: Value, buffers: list[Buffer], tensors: list[Place]) -> Value:
    """Return `value` with a Ref for every tensor, each on a separate buffer."""
    if isinstance(value, TensorValue):
        buffers.append(Buffer(value.dtype.name, value.storage))
        place = Place(len(buffers) - 1, value.sizes, value.strides, value.offset)
        buffers[-1] = buffers[-1].grown(place.end())
        tensors.append(place)
        return Ref(len(tensors) - 1)
    if isinstance(value, list | tuple):
        return tuple(placed(item, buffers, tensors) for item in value)
    return value


def direction(dtype: str, sizes: tuple[int, ...]) -> bytes:
    """Return the elements of the tangent of a tensor of these sizes, in row-major order."""
    angles = np.arange(elements(sizes)) + 0.5
    kind = BY_NAME[dtype].kind
    numbers = np.exp(1j * angles) if kind == "complex" else np.cos(angles)
    content: bytes = from_numbers(BY_NAME[dtype], numbers).tobytes()
    return content


# A plan as a program.

_HEAD = """import ctypes, sys, warnings
import aten as m
warnings.simplefilter("ignore")

def buffer(dtype, content):
    content = bytes.fromhex(content)
    made = m.empty((len(content) // getattr(m, dtype).itemsize,), dtype=getattr(m, dtype))
    if content:
        ctypes.memmove(made.data_ptr(), content, len(content))
    return made
"""


def program(plan: Plan) -> str:
    """Return a program that makes the call with our package."""
    lines = [_HEAD]
    lines += [
        f"b{i} = buffer({b.dtype!r}, {b.content.hex()!r})" for i, b in enumerate(plan.buffers)
    ]
    lines += [
        f"t{i} = b{t.buffer}.as_strided({t.sizes}, {t.strides}, {t.offset})"
        for i, t in enumerate(plan.tensors)
    ]
    if plan.forward:
        lines += ["f = m.autograd.forward_ad", "f.dual_level().__enter__()"]
        lines += [
            f"t{i} = f.make_dual(t{i}, buffer({dtype!r}, {direction(dtype, t.sizes).hex()!r}).view({t.sizes}))"
            for i, t in enumerate(plan.tensors)
            if BY_NAME[dtype := plan.buffers[t.buffer].dtype].kind in FLOATING
        ]
    lines += [f"print({call_text(plan)})", ""]
    return "\n".join(lines)


def call_text(plan: Plan) -> str:
    """Return the call alone, with the names t0, t1 …"""
    given = [_text(value) for value in plan.positional]
    given += [f"{key}={_text(value)}" for key, value in plan.named]
    owner = f"m.{plan.owner}" if plan.owner else "m"
    return f"{owner}.{plan.name}({', '.join(given)})"


def described(plan: Plan) -> str:
    """Describe the plan in a line or two: the call, and its tensors."""
    where = "; ".join(
        f"t{i} = {plan.buffers[t.buffer].dtype}{list(t.sizes)} by {list(t.strides)} + {t.offset} of"
        f" b{t.buffer}[{plan.buffers[t.buffer].count()}]"
        for i, t in enumerate(plan.tensors)
    )
    mode = ", in forward mode" if plan.forward else ""
    return f"{call_text(plan)}  # {plan.operator}{mode}: {where}"


def _text(value: Value) -> str:
    match value:
        case Ref():
            return f"t{value.tensor}"
        case Dtype() | Layout() | MemoryFormat():
            return f"m.{value.name}"
        case Device():
            return f"m.device({value.name!r})"
        case GeneratorValue():
            return f"m.Generator().manual_seed({value.seed})"
        case np.bool_():
            return repr(bool(value))
        case float() | complex():
            return _number_text(value)
        case list() | tuple():
            inner = ", ".join(map(_text, value))
            if isinstance(value, list):
                return f"[{inner}]"
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case _:
            return repr(value)


def _number_text(value: Any) -> str:
    if isinstance(value, complex):
        return f"complex({_number_text(value.real)}, {_number_text(value.imag)})"
    return f"float('{value}')" if value != value or value in (np.inf, -np.inf) else repr(value)
