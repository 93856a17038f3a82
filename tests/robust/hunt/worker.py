"""The process that makes calls with our package under a sanitizer. It receives plans from a pipe, and answers each.

    python worker.py PIPE PACKAGES RUNTIME [ALLOCATOR]     calls of the package in PACKAGES

It imports neither opgen nor pytest, because it is started about a hundred times in an hour of calls.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from differential.numerics.values import (
    BY_NAME,
    Device,
    Dtype,
    GeneratorValue,
    Layout,
    MemoryFormat,
)
from robust.hunt.plans import FLOATING, Place, Plan, Ref, direction

# Elements of larger results are not compared, which would take too long.
MOST_ELEMENTS = 1 << 14
_ADDRESS_SPACE = 10 << 30


@dataclass(frozen=True)
class Facts:
    """A tensor after a call. `content`: its elements in row-major order, None if there are too many or they are not in
    memory; `buffer`: which of the plan's buffers it lies on, -1 for none; `tensor`: which of the plan's tensors it is;
    `fits`: whether it lies entirely inside its storage.
    """

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    buffer: int
    tensor: int
    fits: bool
    content: bytes | None


@dataclass(frozen=True)
class Outcome:
    """`refused` is the class of the exception, None if there was none; `tangents` are those of the results, then those
    of the plan's tensors."""

    refused: str | None
    message: str = ""
    results: tuple[Any, ...] = ()
    tensors: tuple[Facts, ...] = ()
    buffers: tuple[bytes, ...] = field(default=())
    tangents: tuple[Facts | None, ...] = ()


class Caller:
    """Makes the calls of plans with `module`, PyTorch or a package of ours."""

    def __init__(self, module: Any, *, is_torch: bool) -> None:
        self._module = module
        self._is_torch = is_torch
        self._dtypes = {str(getattr(module, name)).removeprefix("torch."): name for name in BY_NAME}
        self._forward = module.autograd.forward_ad
        if is_torch:
            c = module._C
            self._owners = {
                "": c._VariableFunctions,
                "Tensor": module.Tensor,
                "nn": c._nn,
                "special": c._special,
                "linalg": c._linalg,
            }

    def level(self, plan: Plan) -> Any:
        """Return the context in which the plan's tensors are made and read."""
        return self._forward.dual_level() if plan.forward else contextlib.nullcontext()

    def outcome(self, plan: Plan) -> Outcome:
        with self.level(plan):
            return self._outcome(plan)

    def _outcome(self, plan: Plan) -> Outcome:
        bases, tensors = self.made(plan)
        try:
            value = self.prepared(plan, tensors)()
        except Exception as refused:
            made = _Made(bases, tensors)
            return Outcome(
                type(refused).__name__,
                str(refused)[:600],
                (),
                tuple(self._facts(tensor, made, False) for tensor in tensors),
            )
        return self.read(plan, value, bases, tensors)

    def _tangents(self, value: Any, bases: list[Any]) -> Iterator[Facts | None]:
        match value:
            case self._module.Tensor():
                found = self._forward.unpack_dual(value).tangent
                yield None if found is None else self.facts(found, bases, [])
            case list() | tuple():
                for item in value:
                    yield from self._tangents(item, bases)

    def made(self, plan: Plan) -> tuple[list[Any], list[Any]]:
        """Make the plan's buffers, and its tensors on them."""
        bases = [self._base(buffer.dtype, buffer.content) for buffer in plan.buffers]
        tensors = [self._on(bases[place.buffer], place) for place in plan.tensors]
        if plan.forward:
            tensors = [
                self._dual(tensor, plan.buffers[place.buffer].dtype, place.sizes)
                for tensor, place in zip(tensors, plan.tensors)
            ]
        return bases, tensors

    def _dual(self, tensor: Any, dtype: str, sizes: tuple[int, ...]) -> Any:
        if BY_NAME[dtype].kind not in FLOATING:
            return tensor
        tangent = self._base(dtype, direction(dtype, sizes)).view(sizes)
        return self._forward.make_dual(tensor, tangent)

    def _on(self, base: Any, place: Place) -> Any:
        if not self._is_torch:
            return base.as_strided(place.sizes, place.strides, place.offset)
        # PyTorch rejects some calls with views, and treats the result of as_strided as one.
        made = self._module.empty(0, dtype=base.dtype)
        return made.set_(base.untyped_storage(), place.offset, place.sizes, place.strides)

    def prepared(self, plan: Plan, tensors: list[Any]) -> Callable[[], Any]:
        """Prepare the call and make its arguments."""
        function = self._function(plan)
        if self._is_torch and plan.by_schema is not None:
            return partial(function, **{key: self.value(v, tensors) for key, v in plan.by_schema})
        positional = [self.value(v, tensors) for v in plan.positional]
        named = {key: self.value(v, tensors) for key, v in plan.named}
        return partial(function, *positional, **named)

    def read(self, plan: Plan, value: Any, bases: list[Any], tensors: list[Any]) -> Outcome:
        """Return the outcome of a call that returned `value`."""
        made = _Made(bases, tensors)
        return Outcome(
            None,
            "",
            tuple(self._flat(value, made)),
            tuple(self._facts(tensor, made, True) for tensor in tensors),
            tuple(self._content(base) or b"" for base in bases),
            tuple(self._tangents((value, tensors), bases)) if plan.forward else (),
        )

    def facts(self, tensor: Any, bases: list[Any], tensors: list[Any]) -> Facts:
        return self._facts(tensor, _Made(bases, tensors), True)

    def _function(self, plan: Plan) -> Any:
        if not self._is_torch:
            return getattr(
                getattr(self._module, plan.owner) if plan.owner else self._module, plan.name
            )
        if plan.by_schema is not None:
            base, _, overload = plan.operator.partition(".")
            return getattr(getattr(self._module.ops.aten, base), overload or "default")
        return getattr(self._owners[plan.owner], plan.name)

    def value(self, value: Any, tensors: list[Any]) -> Any:
        match value:
            case Ref():
                return tensors[value.tensor]
            case Dtype() | Layout() | MemoryFormat():
                return getattr(self._module, value.name)
            case Device():
                return self._module.device(value.name)
            case GeneratorValue():
                generator = self._module.Generator()
                generator.manual_seed(value.seed)
                return generator
            case np.bool_():
                return bool(value)
            case list() | tuple():
                return type(value)(self.value(item, tensors) for item in value)
            case _:
                return value

    def _base(self, dtype: str, content: bytes) -> Any:
        count = len(content) // BY_NAME[dtype].itemsize
        made = self._module.empty((count,), dtype=getattr(self._module, dtype))
        if content:
            ctypes.memmove(made.data_ptr(), content, len(content))
        return made

    def _flat(self, value: Any, made: _Made) -> Iterator[Any]:
        match value:
            case self._module.Tensor():
                yield self._facts(value, made, True)
            case self._module.dtype():
                yield ("dtype", str(value).removeprefix("torch."))
            case list() | tuple():
                yield len(value)
                for item in value:
                    yield from self._flat(item, made)
            case bool() | int() | float() | complex() | str() | None:
                yield value
            case _:
                yield type(value).__name__

    def _facts(self, tensor: Any, made: _Made, read: bool) -> Facts:
        sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
        offset = int(tensor.storage_offset())
        storage = tensor.untyped_storage() if self._is_torch else tensor.storage()
        room = storage.nbytes() if self._is_torch else storage.nbytes
        dtype = str(tensor.dtype).removeprefix("torch.")
        size = int(tensor.element_size())
        first = last = offset
        for n, step in zip(sizes, strides):
            first, last = first + min(0, (n - 1) * step), last + max(0, (n - 1) * step)
        fits = 0 in sizes or (first >= 0 and (last + 1) * size <= room)
        fits = fits and all(n >= 0 for n in sizes)
        return Facts(
            self._dtypes.get(dtype, dtype),
            sizes,
            strides,
            offset,
            made.buffer_of(storage, self._is_torch),
            made.number_of(tensor),
            fits,
            self._content(tensor) if fits and read else None,
        )

    def _content(self, tensor: Any) -> bytes | None:
        sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
        name = str(tensor.dtype).removeprefix("torch.")
        if str(tensor.device) == "meta" or name not in BY_NAME:
            return None
        if 0 in sizes:
            return b""
        count, span = 1, 1
        for n, step in zip(sizes, strides):
            count, span = count * n, span + (n - 1) * step
        if count > MOST_ELEMENTS or span > 64 * MOST_ELEMENTS or min(strides, default=0) < 0:
            return None
        carrier = BY_NAME[name].carrier
        memory = ctypes.string_at(tensor.data_ptr(), span * carrier.itemsize)
        if count == span:
            row, step = True, 1
            for n, stride in zip(reversed(sizes), reversed(strides)):
                row, step = row and (n == 1 or stride == step), step * n
            if row:
                return memory
        # NumPy has 64 dimensions at most; those of size 1 do not change the order.
        kept = [(n, s * carrier.itemsize) for n, s in zip(sizes, strides) if n != 1]
        shape, steps = [n for n, _ in kept], [s for _, s in kept]
        return np.ndarray(shape, carrier, memory, 0, steps).tobytes()


class _Made:
    """The tensors of a plan, by identity."""

    def __init__(self, bases: list[Any], tensors: list[Any]) -> None:
        self._bases = bases
        self._numbers = {id(tensor): number for number, tensor in enumerate(tensors)}
        self._known: list[Any] | None = None

    def number_of(self, tensor: Any) -> int:
        return self._numbers.get(id(tensor), -1)

    def buffer_of(self, storage: Any, is_torch: bool) -> int:
        if self._known is None:
            self._known = [
                b.untyped_storage()._cdata if is_torch else b.storage() for b in self._bases
            ]
        mine = storage._cdata if is_torch else storage
        for number, known in enumerate(self._known):
            if known == mine if is_torch else known is mine:
                return number
        return -1


def our_module(packages: str, runtime: str, allocator: str = "") -> Any:
    """Import the package; with `allocator`, every storage is a block of exactly its size, so that an access to the
    next byte is detected.
    """
    sys.path.insert(0, packages)
    # The registry of names must not be loaded twice: the package loads the same file.
    import aten  # noqa: PLC0415

    if "LD_PRELOAD" not in os.environ:
        # The same limit as in PyTorch's process; a sanitizer needs more, and has its own limit.
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    if allocator:
        ctypes.CDLL(allocator).hunt_install("LD_PRELOAD" not in os.environ)
    ctypes.CDLL(runtime)["_ZN5opgen15set_num_threadsEi"](1)
    return aten


def torch_module() -> Any:
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch._C._VariableFunctions.ones(1)
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    return torch


def main() -> None:
    warnings.simplefilter("ignore")
    pipe = Connection(int(sys.argv[1]))
    caller = Caller(our_module(*sys.argv[2:]), is_torch=False)
    pipe.send("ready")
    with contextlib.suppress(EOFError):
        while True:
            for plan in pipe.recv():
                pipe.send(caller.outcome(plan))
            gc.collect(0)
    os._exit(0)


if __name__ == "__main__":
    from robust.hunt import worker  # The same classes as in the requesting process.

    worker.main()
