"""Blocks of memory for tensors. What lies around their elements is marked, and pages beside them cannot be read."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import resource
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from opgen.verify.calls.specs import (
    Array,
    Layout,
    TensorSpec,
    array_dtype,
    dense_layout,
    span,
    stored,
)

_PAGE = mmap.PAGESIZE
_READ, _WRITE, _NONE = 1, 2, 0
# An arena of pages, of which every second one cannot be read. A block of up to one page takes one of the others.
_SLOTS = 512


# Addresses that a process may use only where it asks for more memory.
RESERVE = 10 << 30


@contextlib.contextmanager
def more_memory() -> Iterator[None]:
    """Allow the process as many addresses as it may have at most."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class Memory:
    """Hands out blocks. `release_all` takes all of them back."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._libc = libc
        self._start = self._map(2 * _SLOTS + 1)
        for slot in range(_SLOTS):
            self._protect(self._start + (2 * slot + 1) * _PAGE, 1, _READ | _WRITE)
        self._next = 0
        self._large: list[tuple[int, int]] = []
        self.blocks: list[Block] = []
        self.mark = 0xA5

    @property
    def pages(self) -> tuple[int, int]:
        """The addresses of the arena, from its first byte to behind its last."""
        return self._start, self._start + (2 * _SLOTS + 1) * _PAGE

    def block(self, spec: TensorSpec) -> Block:
        """Return a block with the elements of a tensor; all its other bytes are `mark`."""
        layout = spec.layout or dense_layout(spec)
        bytes_ = layout.count * spec.itemsize
        pages = max(1, -(-(bytes_ + 2 * layout.alignment) // _PAGE))
        start = self._pages(pages)
        if layout.place == "tail":
            address = start + pages * _PAGE - bytes_
        elif layout.place == "head":
            address = start
        else:
            # A multiple of the alignment, and of no larger power of two.
            address = start + layout.alignment
        block = Block(spec, layout, start, pages * _PAGE, address, self.mark)
        self.blocks.append(block)
        return block

    def release_all(self) -> None:
        self.blocks.clear()
        self._next = 0
        for start, bytes_ in self._large:
            self._libc.munmap(start, bytes_)
        self._large.clear()

    def _pages(self, count: int) -> int:
        if count == 1 and self._next < _SLOTS:
            self._next += 1
            return self._start + (2 * self._next - 1) * _PAGE
        start = self._map(count + 2)
        self._protect(start + _PAGE, count, _READ | _WRITE)
        self._large.append((start, (count + 2) * _PAGE))
        return start + _PAGE

    def _map(self, pages: int) -> int:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        found = self._libc.mmap(None, pages * _PAGE, _NONE, flags, -1, 0)
        if found in (None, ctypes.c_void_p(-1).value):
            raise MemoryError(f"no {pages} pages")
        return int(found)

    def _protect(self, start: int, pages: int, access: int) -> None:
        if self._libc.mprotect(start, pages * _PAGE, access) != 0:
            raise MemoryError(f"mprotect failed: {ctypes.get_errno()}")


class Block:
    """The memory of one storage: `bytes_` bytes at `address`, inside of pages that start at `start`."""

    def __init__(
        self, spec: TensorSpec, layout: Layout, start: int, room: int, address: int, mark: int
    ) -> None:
        self.spec = spec
        self.layout = layout
        self.address = address
        self.bytes_ = layout.count * spec.itemsize
        raw: Any = (ctypes.c_char * room).from_address(start)
        self._room: Array = np.frombuffer(raw, np.uint8)
        self._begin = address - start
        if layout.place != "far":
            self._room[:] = mark
        self.storage: Array = self._room[self._begin : self._begin + self.bytes_]
        self._before: Array | None = None

    def view(self, skipped: int = 0) -> Array:
        """Return the elements of the tensor in this memory, as they are stored; also so many rows in front of them."""
        spec, layout = self.spec, self.layout
        size = spec.itemsize
        shape = (spec.shape[0] + skipped, *spec.shape[1:]) if skipped else spec.shape
        offset = layout.offset - (skipped * layout.strides[0] if skipped else 0)
        first = self._begin + offset * size
        count = span(shape, layout.strides)
        raw = self._room[first : first + count * size].view(array_dtype(spec.dtype))
        strides = tuple(step * size for step in layout.strides)
        return np.lib.stride_tricks.as_strided(raw, shape, strides)

    def write(self, numbers: Array) -> None:
        """Write the elements of the tensor."""
        if self.spec.count:
            self.view()[...] = stored(numbers, self.spec.dtype)

    def fill_around(self, mark: int) -> None:
        """Fill all bytes but those of elements."""
        numbers = self.view().copy()
        self._room[:] = mark
        if self.spec.count:
            self.view()[...] = numbers

    def remember(self) -> None:
        """Keep a copy of all bytes, for `changes`."""
        self._before = self._room.copy()

    def changes(self) -> Changes:
        """Return which bytes differ from those that `remember` kept."""
        assert self._before is not None
        if np.array_equal(self._before, self._room):
            return Changes()
        places = (self._before != self._room).nonzero()[0] - self._begin
        is_inside = (places >= 0) & (places < self.bytes_)
        # Which bytes of the storage are those of elements.
        spec, layout, size = self.spec, self.layout, self.spec.itemsize
        mine = np.zeros(self.bytes_, bool)
        if spec.count:
            strides = (*(step * size for step in layout.strides), 1)
            first = mine[layout.offset * size :]
            np.lib.stride_tricks.as_strided(first, (*spec.shape, size), strides)[...] = True
        inside, outside = places[is_inside], places[~is_inside]
        between = inside[~mine[inside]]
        beyond = None
        if len(outside):
            beyond = int(outside[0]) if outside[0] < 0 else int(outside[0]) - self.bytes_ + 1
        return Changes(bool(mine[inside].any()), int(between[0]) if len(between) else None, beyond)


class Changes(Struct, frozen=True):
    """Which bytes of a block a call has written: elements; the first byte between them; the first byte outside.

    A byte outside counts from the start of the storage if it is negative, else from its end, from 1.
    """

    elements: bool = False
    between: int | None = None
    beyond: int | None = None


# The codes of DLPack for dtypes that NumPy does not have, or passes in newer releases only.
_CODES = {"bool": 6, "bfloat16": 4}
# Where the code is in a DLTensor: behind a pointer, a device and the number of dimensions.
_CODE = 20


class Lent:
    """An object with `__dlpack__`: an array whose memory must outlive it, as a tensor of a dtype."""

    def __init__(self, array: Array, dtype: str) -> None:
        self._array = array.view(np.uint8) if dtype == "bool" else array
        self._code = _CODES.get(dtype)

    def __dlpack__(self, **_: Any) -> Any:
        capsule = self._array.__dlpack__()
        if self._code is not None:
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + _CODE).value = self._code
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()
