"""Call any operator of a loaded library by its full name through the runtime's C interface.

    library = Library(own_operators())
    library.call("aten::add.Tensor", {"self": a, "other": b})   # NumPy arrays, numbers, lists, None …

No code here is specific to an operator. Arrays keep their strides: a view is passed as its whole buffer with sizes,
strides and offset, so the operator sees the same layout as NumPy.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import struct
from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

from differential.numerics.values import (
    BY_NUMBER,
    DTYPES,
    Array,
    Device,
    Dtype,
    GeneratorValue,
    Layout,
    MemoryFormat,
    TensorValue,
    Value,
    to_numbers,
)
from support.library import OperatorLibrary

_BY_CARRIER = {dtype.carrier: dtype for dtype in DTYPES if dtype.name != "bfloat16"}


class OperatorError(Exception):
    """The operator raised an error; `kind` is the class of the runtime's exception."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class _Kind(enum.IntEnum):
    """enum opgen_kind of c_api.h, for the kinds that operators return."""

    NONE = 0
    BOOL = 1
    INT = 2
    DOUBLE = 3
    COMPLEX = 4
    TENSOR = 5
    STRING = 6
    LIST = 11


class _Info(ctypes.Structure):
    _fields_ = (
        ("defined", c_int32),
        ("dtype", c_int32),
        ("layout", c_int32),
        ("device_type", c_int32),
        ("device_index", c_int32),
        ("wrapped_number", c_int32),
        ("ndim", c_int64),
        ("sizes", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("storage_offset", c_int64),
        ("numel", c_int64),
        ("data", c_void_p),
        ("storage_data", c_void_p),
        ("storage_bytes", c_size_t),
        ("version", c_int64),
        ("identity", c_void_p),
        ("storage_identity", c_void_p),
    )


@dataclass(frozen=True, slots=True)
class TensorResult:
    """A tensor that lives in the runtime as long as `keep` does."""

    dtype: Dtype
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    data: int
    storage_data: int
    storage_bytes: int
    identity: int
    storage_identity: int
    device: str
    keep: Any

    def carried(self) -> Array:
        """Its elements, without a copy, as an array of `dtype.carrier`."""
        return view_memory(self.data, self.dtype.carrier, self.sizes, self.strides)

    def array(self) -> Array:
        """A copy of its elements; bfloat16 as float32."""
        return to_numbers(self.dtype, self.carried()).copy()

    def storage(self) -> bytes:
        return (
            ctypes.string_at(self.storage_data, self.storage_bytes) if self.storage_bytes else b""
        )


def view_memory(
    address: int, dtype: np.dtype[Any], sizes: tuple[int, ...], strides: tuple[int, ...]
) -> Array:
    """Return an array over memory that someone else owns; strides in elements, none of them negative."""
    step = dtype.itemsize
    if 0 in sizes or not address:
        return np.empty(sizes, dtype)
    extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    buffer: Any = (ctypes.c_char * (extent * step)).from_address(address)
    return np.ndarray(sizes, dtype, buffer, 0, [stride * step for stride in strides])


class Library:
    """The runtime with one library of operators loaded into it."""

    def __init__(self, built: OperatorLibrary) -> None:
        self._c = _declared(ctypes.CDLL(str(built.runtime)))
        self._operators = ctypes.CDLL(str(built.path))
        self._keywords: dict[tuple[str, ...], Any] = {}

    def operators(self) -> tuple[str, ...]:
        """Return the full names, such as "aten::add.Tensor", of all registered operators."""
        return tuple(self._read(_Handle(self._c, self._c.opgen_operators())))

    def registered_keys(self, name: str) -> tuple[str, ...]:
        """Return the dispatch keys with a kernel registered for an operator."""
        found = self._c.opgen_operator_registrations(name.encode())
        text = self._read(_Handle(self._c, self._check(found)))
        rows = (line.split(":")[0] for line in str(text).splitlines()[1:])
        return tuple(row for row in rows if row and row != "schema")

    def computed_table(self, name: str) -> dict[str, str]:
        """Return what the dispatcher calls for each runtime key: "kernel", an alias key or "fallback"."""
        text = self._read(
            _Handle(self._c, self._check(self._c.opgen_operator_table(name.encode())))
        )
        rows = (line.partition(": ") for line in str(text).splitlines())
        return {key: reason for key, _, reason in rows}

    def stubs(self) -> tuple[tuple[str, str, str, str], ...]:
        """Return the kernels that are still stubs: library, operator, key, the text to write."""
        return tuple(tuple(row) for row in self._read(_Handle(self._c, self._c.opgen_stubs())))

    @contextlib.contextmanager
    def composite_compliance(self) -> Iterator[None]:
        """Within this context, composite kernels that read memory, resize, or call out= or item raise an error."""
        self._c.opgen_set_composite_compliance(1)
        try:
            yield
        finally:
            self._c.opgen_set_composite_compliance(0)

    def call(self, name: str, arguments: Mapping[str, Value], device: str = "cpu") -> list[Any]:
        """Call an operator and return its results: tensors as TensorResult, undefined ones and missing ones as None,
        lists as lists.

        Tensor arguments are made on `device`; without data if that is not the CPU. Raises OperatorError.
        """
        return self.call_handles(name, {k: self.make(v, device) for k, v in arguments.items()})

    def call_handles(self, name: str, arguments: Mapping[str, Handle]) -> list[Any]:
        """Call an operator with values made before, so that what it wrote to them can be read."""
        names = tuple(arguments)
        keywords = self._keywords.get(names)
        if keywords is None:
            keywords = (c_char_p * len(names))(*(each.encode() for each in names))
            self._keywords[names] = keywords
        values = (c_void_p * len(names))(*(handle.pointer for handle in arguments.values()))
        returned = self._c.opgen_call(name.encode(), None, 0, keywords, values, len(names))
        results = self._read(_Handle(self._c, self._check(returned)))
        assert isinstance(results, list)
        return results

    def make(self, value: Value, device: str = "cpu") -> Handle:
        """Make a value of the runtime."""
        match value:
            case TensorValue():
                made = self._make_tensor(value, device)
            case None:
                made = self._c.opgen_none()
            case bool() | np.bool_():
                made = self._c.opgen_bool(bool(value))
            case int():
                made = self._c.opgen_int(value)
            case float():
                made = self._c.opgen_double(value)
            case complex():
                made = self._c.opgen_complex(value.real, value.imag)
            case str():
                text = value.encode()
                made = self._c.opgen_string(text, len(text))
            case Dtype() | MemoryFormat() | Layout():
                made = self._c.opgen_int(value.number)
            case Device():
                made = self._c.opgen_device(value.name.encode())
            case GeneratorValue():
                made = self._c.opgen_generator(value.seed)
            case np.ndarray():
                return self.make(value_of(value), device)
            case _Handle():
                return value
            case Sequence():
                items = [self.make(item, device) for item in value]
                pointers = (c_void_p * len(items))(*(item.pointer for item in items))
                return _Handle(
                    self._c, self._check(self._c.opgen_list(pointers, len(items))), items
                )
            case _:
                raise TypeError(f"no value of the schema language: {value!r}")
        return _Handle(self._c, self._check(made))

    def view(
        self, base: Handle, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
    ) -> Handle:
        """Return another tensor on the storage of `base`; sizes, strides and offset in elements."""
        layout = struct.Struct(f"{len(sizes)}q")
        made = self._c.opgen_tensor_view(
            base.pointer, len(sizes), layout.pack(*sizes), layout.pack(*strides), offset
        )
        return _Handle(self._c, self._check(made))

    def tensor(self, handle: Handle) -> TensorResult:
        """Return the tensor behind a handle as it is now."""
        read = self._read_tensor(handle)
        assert read is not None, "an undefined tensor"
        return read

    def _make_tensor(self, value: TensorValue, device: str) -> int | None:
        dimensions = len(value.sizes)
        layout = struct.Struct(f"{dimensions}q")
        made: int | None = self._c.opgen_tensor_new(
            value.dtype.number,
            dimensions,
            layout.pack(*value.sizes),
            layout.pack(*value.strides),
            value.offset,
            value.storage if device == "cpu" else None,
            len(value.storage),
            device.encode(),
        )
        return made

    def _check(self, pointer: int | None) -> int:
        if not pointer:
            kind, text = self._c.opgen_last_error_kind(), self._c.opgen_last_error()
            raise OperatorError(kind.decode(), text.decode(errors="replace"))
        return pointer

    def _read(self, handle: Handle) -> Any:
        c, pointer = self._c, handle.pointer
        match c.opgen_value_kind(pointer):
            case _Kind.TENSOR:
                return self._read_tensor(handle)
            case _Kind.LIST:
                size = c_size_t()
                c.opgen_list_size(pointer, byref(size))
                every = range(size.value)
                return [self._read(_Handle(c, c.opgen_list_item(pointer, i))) for i in every]
            case _Kind.INT:
                integer = c_int64()
                c.opgen_as_int(pointer, byref(integer))
                return integer.value
            case _Kind.DOUBLE:
                double = c_double()
                c.opgen_as_double(pointer, byref(double))
                return double.value
            case _Kind.BOOL:
                truth = c_int()
                c.opgen_as_bool(pointer, byref(truth))
                return bool(truth.value)
            case _Kind.COMPLEX:
                real, imaginary = c_double(), c_double()
                c.opgen_as_complex(pointer, byref(real), byref(imaginary))
                return complex(real.value, imaginary.value)
            case _Kind.STRING:
                text, size = c_char_p(), c_size_t()
                c.opgen_as_string(pointer, byref(text), byref(size))
                return ctypes.string_at(text, size.value).decode()
            case _Kind.NONE:
                return None
            case other:
                raise TypeError(f"a result of kind {other}")

    def _read_tensor(self, handle: Handle) -> TensorResult | None:
        info = _Info()
        if not self._c.opgen_tensor_read(handle.pointer, byref(info)):
            self._check(None)
        if not info.defined:
            return None
        dimensions = info.ndim
        return TensorResult(
            BY_NUMBER[info.dtype],
            tuple(info.sizes[:dimensions]) if dimensions else (),
            tuple(info.strides[:dimensions]) if dimensions else (),
            info.storage_offset,
            info.data or 0,
            info.storage_data or 0,
            info.storage_bytes,
            info.identity or 0,
            info.storage_identity or 0,
            "cpu" if info.device_type == 0 else "meta",
            handle,
        )


class _Handle:
    """An opgen_value, freed with its last reference; a list keeps its items, so that they can be read later."""

    __slots__ = ("_c", "items", "pointer")

    def __init__(self, c: Any, pointer: int, items: Sequence[_Handle] = ()) -> None:
        self._c = c
        self.pointer = pointer
        self.items = items

    def __del__(self) -> None:
        self._c.opgen_value_free(self.pointer)


Handle = _Handle


def value_of(array: Array) -> TensorValue:
    """Return a NumPy array as a value with its strides; the array that it is a view of becomes the storage. Strides
    must not be negative.
    """
    dtype = _BY_CARRIER[array.dtype]
    root = array
    while isinstance(root.base, np.ndarray) and root.base.dtype == array.dtype:
        root = root.base
    if not root.flags.c_contiguous and not root.flags.f_contiguous:
        root = array = np.ascontiguousarray(array)
    offset = (array.ctypes.data - root.ctypes.data) // dtype.itemsize
    strides = tuple(stride // dtype.itemsize for stride in array.strides)
    return TensorValue(dtype, array.shape, strides, offset, root.tobytes("A"))


def _declared(c: Any) -> Any:
    """Declare the types of functions: otherwise ctypes passes 32-bit integers."""
    value = c_void_p
    for name, result, *arguments in (
        ("opgen_last_error", c_char_p),
        ("opgen_last_error_kind", c_char_p),
        (
            "opgen_tensor_new",
            value,
            c_int32,
            c_int64,
            c_char_p,
            c_char_p,
            c_int64,
            c_char_p,
            c_size_t,
            c_char_p,
        ),
        ("opgen_tensor_view", value, value, c_int64, c_char_p, c_char_p, c_int64),
        ("opgen_tensor_read", c_int, value, c_void_p),
        ("opgen_none", value),
        ("opgen_bool", value, c_int),
        ("opgen_int", value, c_int64),
        ("opgen_double", value, c_double),
        ("opgen_complex", value, c_double, c_double),
        ("opgen_string", value, c_char_p, c_size_t),
        ("opgen_device", value, c_char_p),
        ("opgen_generator", value, c_uint64),
        ("opgen_list", value, c_void_p, c_size_t),
        ("opgen_value_free", None, value),
        ("opgen_value_kind", c_int, value),
        ("opgen_as_bool", c_int, value, c_void_p),
        ("opgen_as_int", c_int, value, c_void_p),
        ("opgen_as_double", c_int, value, c_void_p),
        ("opgen_as_complex", c_int, value, c_void_p, c_void_p),
        ("opgen_as_string", c_int, value, c_void_p, c_void_p),
        ("opgen_list_size", c_int, value, c_void_p),
        ("opgen_list_item", value, value, c_size_t),
        ("opgen_call", value, c_char_p, c_void_p, c_size_t, c_void_p, c_void_p, c_size_t),
        ("opgen_set_composite_compliance", c_int, c_int),
        ("opgen_operators", value),
        ("opgen_operator_registrations", value, c_char_p),
        ("opgen_operator_table", value, c_char_p),
        ("opgen_stubs", value),
    ):
        function = getattr(c, name)
        function.restype, function.argtypes = result, arguments
    return c
