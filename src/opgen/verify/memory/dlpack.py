"""Tensors of target runtime on memory of ours, by DLPack: for every dtype, with any strides."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
_CPU = 1


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (
    ("tensor", _Tensor),
    ("context", ctypes.c_void_p),
    ("deleter", _DELETER),
)


# The records of tensors that exist.
_kept: dict[int, Any] = {}


@_DELETER  # type: ignore[untyped-decorator]
def _released(record: Any) -> None:
    _kept.pop(ctypes.addressof(record.contents), None)


class Lent:
    """An object with `__dlpack__`: a tensor at an address, whose memory must outlive it."""

    def __init__(
        self, address: int, dtype: str, shape: Sequence[int], strides: Sequence[int]
    ) -> None:
        rank = len(shape)
        sizes = (ctypes.c_int64 * max(rank, 1))(*shape)
        steps = (ctypes.c_int64 * max(rank, 1))(*strides)
        letters = dtype.rstrip("0123456789")
        bits = int(dtype[len(letters) :] or 8)
        record = _Managed(
            _Tensor(address, _Device(_CPU, 0), rank, _DataType(_CODES[letters], bits, 1)),
            None,
            _released,
        )
        record.tensor.shape = sizes
        record.tensor.strides = steps
        self._address = ctypes.addressof(record)
        _kept[self._address] = (record, sizes, steps)

    def __dlpack__(self, **_: Any) -> Any:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(self._address, b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_CPU, 0)
