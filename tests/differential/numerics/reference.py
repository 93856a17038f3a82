"""The same call in PyTorch: values become tensors with the same strides, and results have the driver's form.

Importing this module needs torch.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from differential.numerics.driver import view_memory
from differential.numerics.values import (
    BY_NAME,
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

torch.set_num_threads(1)

_TORCH_DTYPES = {name: getattr(torch, name) for name in BY_NAME}
_DTYPES = {theirs: BY_NAME[name] for name, theirs in _TORCH_DTYPES.items()}


@dataclass(frozen=True, slots=True)
class ReferenceTensor:
    """A result of PyTorch, with the fields of driver.TensorResult."""

    dtype: Dtype | str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    data: int
    storage_data: int
    storage_bytes: int
    keep: torch.Tensor

    def carried(self) -> Array:
        assert isinstance(self.dtype, Dtype)
        return view_memory(self.data, self.dtype.carrier, self.sizes, self.strides)

    def array(self) -> Array:
        assert isinstance(self.dtype, Dtype)
        return to_numbers(self.dtype, self.carried()).copy()

    def storage(self) -> bytes:
        return (
            ctypes.string_at(self.storage_data, self.storage_bytes) if self.storage_bytes else b""
        )


def find(name: str) -> Any | None:
    """Return PyTorch's operator for a name without namespace, such as "add.Tensor"; None if it has none."""
    base, _, overload = name.partition(".")
    packet = getattr(torch.ops.aten, base, None)
    return getattr(packet, overload or "default", None)


def make(value: Value) -> Any:
    """Make PyTorch's form of a value."""
    match value:
        case TensorValue():
            return _tensor(value)
        case Dtype():
            return _TORCH_DTYPES[value.name]
        case Device():
            return torch.device(value.name)
        case Layout() | MemoryFormat():
            return getattr(torch, value.name)
        case GeneratorValue():
            generator = torch.Generator()
            generator.manual_seed(value.seed)
            return generator
        case str():
            return value
        case Sequence():
            return [make(item) for item in value]
        case _:
            return value


def make_meta(value: Value) -> Any:
    """Make a value as `make` does, with tensors on the Meta device."""
    if isinstance(value, TensorValue):
        dtype = _TORCH_DTYPES[value.dtype.name]
        whole = torch.empty(len(value.storage) // value.dtype.itemsize, dtype=dtype, device="meta")
        return whole.as_strided(value.sizes, value.strides, value.offset)
    if isinstance(value, tuple):
        return [make_meta(item) for item in value]
    return make(value)


def call(operator: Any, arguments: Mapping[str, Any]) -> list[Any]:
    """Call an operator with arguments from `make` and return its results; passes on what PyTorch raises."""
    return [read(result) for result in results_of(operator, arguments)]


def results_of(operator: Any, arguments: Mapping[str, Any]) -> list[Any]:
    """The same, as PyTorch's own objects."""
    # oneDNN's convolutions of some sizes, and its gelu_backward of half types with a grad_output of another shape, use
    # memory that is not theirs (torch 2.13, AVX-512); convolutions of bfloat16 accept sizes that PyTorch refuses.
    torch._C._set_mkldnn_enabled(re.search("conv|gelu", operator._schema.name) is None)
    try:
        returned = operator(**arguments)
    finally:
        torch._C._set_mkldnn_enabled(True)
    returns = len(operator._schema.returns)
    return [] if returns == 0 else [returned] if returns == 1 else list(returned)


def assign(out: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """Treat an out argument as a structured out= operator does, which rejects other dtypes."""
    if result.dtype != out.dtype:
        raise RuntimeError(f"expected an out= tensor of dtype {result.dtype}, not {out.dtype}")
    if out.size() != result.size():
        out.resize_(result.size()).as_strided_(result.size(), result.stride())
    return out.copy_(result)


def read(result: Any) -> Any:
    """Convert a result of PyTorch to the driver's form."""
    match result:
        case torch.Tensor():
            storage = result.untyped_storage()
            return ReferenceTensor(
                _DTYPES.get(result.dtype, str(result.dtype)),
                tuple(result.size()),
                result.stride(),
                int(result.storage_offset()),
                result.data_ptr(),
                storage.data_ptr(),
                storage.nbytes(),
                result,
            )
        case list() | tuple():
            return [read(item) for item in result]
        case torch.dtype():
            return _DTYPES[result].number
        case _:
            return result


def _tensor(value: TensorValue) -> torch.Tensor:
    """Make a tensor on a storage of its own, which can be resized, and which is not a view for autograd."""
    dtype = _TORCH_DTYPES[value.dtype.name]
    made = torch.empty(0, dtype=dtype)
    storage = made.untyped_storage()
    if value.storage:
        storage = (
            torch.frombuffer(bytearray(value.storage), dtype=torch.uint8).clone().untyped_storage()
        )
    return made.set_(storage, value.offset, value.sizes, value.strides)
