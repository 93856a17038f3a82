"""Call any operator of our library through its Python package, with the interface of driver.Library.

    library = PythonLibrary(own_package(), registry, Form.METHOD)
    library.call_handles("aten::add.Tensor", {"self": library.make(a), "other": library.make(b)})   # a.add(b)

So a checker that compares operators called through the C interface can compare Python functions and methods.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from differential.numerics.driver import OperatorError, TensorResult
from differential.numerics.values import (
    BY_NAME,
    Device,
    Dtype,
    GeneratorValue,
    Layout,
    MemoryFormat,
    TensorValue,
    Value,
)
from opgen.model.function_schema import FunctionSchema
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.registry import Registry
from opgen.model.types import BaseTy, BaseType
from opgen.python.check import is_bound


class Form(enum.Enum):
    """How an operator is called: by position as far as possible, or entirely by name."""

    FUNCTION = "function"
    FUNCTION_BY_NAME = "function, all by name"
    METHOD = "method"
    METHOD_BY_NAME = "method, all by name"

    @property
    def is_method(self) -> bool:
        return self in (Form.METHOD, Form.METHOD_BY_NAME)

    @property
    def by_name(self) -> bool:
        return self in (Form.FUNCTION_BY_NAME, Form.METHOD_BY_NAME)


@dataclass(frozen=True, slots=True)
class PythonHandle:
    """A Python object. For a tensor made here, also a tensor over all of its storage, and that storage's bytes."""

    object: Any
    items: tuple[PythonHandle, ...] = ()
    base: Any = None
    storage_bytes: int = 0


class PythonLibrary:
    """The package `module` with the operators of `registry`, called in one form."""

    def __init__(self, module: ModuleType, registry: Registry, form: Form) -> None:
        self._module: Any = module
        self._form = form
        self._functions = {f"{f.namespace}::{f.func.name}": f for f in registry.functions}

    def has(self, f: NativeFunction) -> bool:
        """Return whether Python can call `f` in this form."""
        return self._callable(f) is not None

    def call(self, name: str, arguments: Mapping[str, Value], device: str = "cpu") -> list[Any]:
        """Call an operator as Library.call does. Raises OperatorError with the class of Python's exception."""
        return self.call_handles(name, {k: self.make(v, device) for k, v in arguments.items()})

    def call_handles(self, name: str, arguments: Mapping[str, PythonHandle]) -> list[Any]:
        return [self._read(result) for result in self.call_objects(name, arguments)]

    def call_objects(self, name: str, arguments: Mapping[str, PythonHandle]) -> list[Any]:
        """Call an operator and return Python's own objects, which have gradients."""
        f = self._functions[name]
        function = self._callable(f)
        assert function is not None, name
        given = {key: handle.object for key, handle in arguments.items()}
        positional, named = self._arranged(f.func, given)
        try:
            returned = function(*positional, **named)
        except Exception as refused:
            raise OperatorError(type(refused).__name__, str(refused)) from refused
        returns = len(f.func.returns)
        return [] if returns == 0 else [returned] if returns == 1 else list(returned)

    def read(self, tensor: Any) -> TensorResult:
        """Return a tensor of the package as it is now."""
        return self._tensor(tensor)

    def make(self, value: Value, device: str = "cpu") -> PythonHandle:
        """Make a Python object for a value."""
        match value:
            case TensorValue():
                return self._make_tensor(value, device)
            case np.bool_():
                return PythonHandle(bool(value))
            case Dtype() | MemoryFormat() | Layout():
                return PythonHandle(getattr(self._module, value.name))
            case Device():
                return PythonHandle(self._module.device(value.name))
            case GeneratorValue():
                return PythonHandle(self._module.Generator().manual_seed(value.seed))
            case PythonHandle():
                return value
            case str():
                return PythonHandle(value)
            case Sequence():
                items = tuple(self.make(item, device) for item in value)
                return PythonHandle([item.object for item in items], items)
            case _:
                return PythonHandle(value)

    def tensor(self, handle: PythonHandle) -> TensorResult:
        """Return the tensor behind a handle as it is now."""
        return self._tensor(handle.object, handle.base, handle.storage_bytes)

    def _make_tensor(self, value: TensorValue, device: str) -> PythonHandle:
        dtype = getattr(self._module, value.dtype.name)
        count = len(value.storage) // value.dtype.itemsize
        base = self._module.empty((count,), dtype=dtype, device=device)
        if device == "cpu" and value.storage:
            ctypes.memmove(base.data_ptr(), value.storage, len(value.storage))
        tensor = base.as_strided(value.sizes, value.strides, value.offset)
        return PythonHandle(tensor, (), base, len(value.storage))

    def _callable(self, f: NativeFunction) -> Any:
        """Return the Python function or method; None if Python calls `f` in another way or not at all."""
        variant = Variant.method if self._form.is_method else Variant.function
        if self._form.is_method if f.python_module else variant not in f.variants:
            return None
        place = self._module.Tensor if self._form.is_method else self._module
        if f.python_module:
            place = getattr(place, f.python_module)
        found = getattr(place, str(f.func.name.name), None)
        made_by_hand = type(found).__name__ != "Function"
        return found if made_by_hand or is_bound(f) or _is_bound_here(f) else None

    def _arranged(
        self, func: FunctionSchema, given: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Split the arguments into positional and named ones, according to the Python signature of the operator."""
        rest = dict(given)
        positional: list[Any] = []
        if self._form.is_method:
            positional.append(rest.pop("self"))
        for argument in func.arguments.flat_positional:
            if self._form.is_method and argument.name == "self":
                continue
            if self._form.by_name or argument.name not in rest:
                break
            positional.append(rest.pop(argument.name))
        outs = func.arguments.out
        if len(outs) > 1:
            rest["out"] = tuple(rest.pop(out.name) for out in outs)
        own = func.arguments.self_arg
        if "self" in rest and own is not None and own.argument.type == BaseType(BaseTy.Tensor):
            rest["input"] = rest.pop("self")
        return positional, rest

    def _read(self, result: Any) -> Any:
        if isinstance(result, self._module.Tensor):
            return self._tensor(result)
        if isinstance(result, self._module.dtype):
            return BY_NAME[str(result)].number
        if isinstance(result, tuple | list):
            return [self._read(item) for item in result]
        return result

    def _tensor(self, tensor: Any, base: Any = None, storage_bytes: int = 0) -> TensorResult:
        """Return a tensor's contents. If it was not made here, its storage is taken to be as large as the tensor
        needs.
        """
        dtype, offset = BY_NAME[str(tensor.dtype)], tensor.storage_offset()
        sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
        address = tensor.data_ptr()
        start = base.data_ptr() if base is not None else address - offset * dtype.itemsize
        if 0 not in sizes:
            last = offset + sum((size - 1) * step for size, step in zip(sizes, strides))
            storage_bytes = max(storage_bytes, (last + 1) * dtype.itemsize)
        return TensorResult(
            dtype,
            sizes,
            strides,
            offset,
            address,
            start,
            storage_bytes,
            id(tensor),
            start if storage_bytes else 0,
            "cpu" if str(tensor.device).startswith("cpu") else "meta",
            tensor,
        )


def _is_bound_here(f: NativeFunction) -> bool:
    """PyTorch binds these by hand; our package binds them from their schemas."""
    return str(f.func.name.name) in ("contiguous", "copy_", "nonzero", "to")
