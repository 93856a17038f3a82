"""What checks need of a kind of tensors."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import Struct

from opgen.gradtest.backends import BaseTensors
from opgen.model.function_schema import FunctionSchema
from opgen.verify.calls.specs import Complex, GeneratorSpec, Named, TensorSpec, Value
from opgen.verify.memory.guard import Guard


class Described(Struct, frozen=True):
    """A tensor without its elements. `address` is that of its first element, `storage` that of its storage."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: str
    offset: int
    storage: int
    storage_bytes: int

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)} with strides {list(self.strides)} on {self.device}"


def returned(schema: FunctionSchema, given: Mapping[str, Any], new: Iterable[Any]) -> Any:
    """Return what a call returns by its schema: its new results, and those of its arguments that it returns."""
    rest = iter(new)
    sets = {a.annotation.alias_set: a.name for a in schema.arguments.flat_all if a.annotation}
    found = tuple(
        given[sets[r.annotation.alias_set]] if r.annotation and r.is_write else next(rest)
        for r in schema.returns
    )
    return found[0] if len(found) == 1 else found or None


class Setting(Struct, frozen=True):
    """How a setting of the process is read and written, and a value that calls keep."""

    read: Callable[[], Any]
    write: Callable[[Any], object]
    own: Any


def _rounding() -> str:
    libm = ctypes.CDLL("libm.so.6")
    if libm.fegetround():
        return "not to the nearest number"
    return "to denormal ones" if np.float64(1e-310) * np.float64(0.5) else "to zero"


def round_as_usual(_: str = "") -> None:
    """Set how numbers are rounded to what it is when a program begins."""
    # FE_DFL_ENV of glibc.
    ctypes.CDLL("libm.so.6").fesetenv(ctypes.c_void_p(-1))


class BaseBackend(BaseTensors):
    """One kind of tensors, with the operators of a library: what is the same for PyTorch and for a package that is like it."""

    # "torch" or "runtime".
    kind: str
    # What calls the operators, if the library does not itself: "jax" or "tvm-ffi".
    framework: str = ""
    # The properties that the framework leaves nothing to check of, and why.
    not_applicable: Mapping[str, str] = MappingProxyType({})
    # Whether gradients follow from outputs that were computed before, as `gradients` does.
    has_tape: bool = True
    # What `gradcheck` does not compare, by the names of its options.
    lenient: Mapping[str, bool] = MappingProxyType({})

    def __init__(self, module: str, folders: Sequence[str], guard: Guard | None) -> None:
        sys.path[:0] = folders
        super().__init__(importlib.import_module(module))
        self.guard = guard

    # Tensors.

    def fresh(self, spec: TensorSpec) -> Any:
        """Return a tensor in memory of its own, with the elements and the strides of a spec."""
        raise NotImplementedError

    def other(self, value: Value) -> Any:
        """Return a value that is neither a tensor nor a list: a number, a dtype, a generator."""
        if isinstance(value, GeneratorSpec):
            return self.module.Generator().manual_seed(value.seed)
        if isinstance(value, Named):
            if value.kind == "device":
                return self.module.device(value.name)
            return getattr(self.module, value.name)
        if isinstance(value, Complex):
            return complex(value.real, value.imag)
        return value

    def made(self, value: Value, tensor: Callable[[TensorSpec], Any] | None = None) -> Any:
        """Return a value of a call; tensors are in memory of their own, unless `tensor` makes them."""
        if isinstance(value, TensorSpec):
            return (tensor or self.fresh)(value)
        if isinstance(value, list | tuple):
            return [self.made(item, tensor) for item in value]
        return self.other(value)

    def describe(self, tensor: Any) -> Described:
        device = str(tensor.device).partition(":")[0]
        return Described(
            tuple(tensor.shape),
            tuple(tensor.stride()),
            str(tensor.dtype).rpartition(".")[2],
            device,
            tensor.storage_offset(),
            *(self.storage(tensor) if device == "cpu" else (0, 0)),
        )

    def storage(self, tensor: Any) -> tuple[int, int]:
        """Return the address of a storage, and how many bytes it has."""
        held = tensor.untyped_storage()
        return held.data_ptr(), held.nbytes

    def version(self, tensor: Any) -> int:
        """Return how often the tensor has been written."""
        return int(tensor._version)

    # Around calls.

    def refusal(self, error: BaseException) -> bool:
        """Return whether the exception is one that kernels refuse calls with."""
        return isinstance(error, Exception)

    def failure(self) -> str:
        """Return why the framework refused the last call, which the library accepts; empty if it did not."""
        return ""

    def threads(self) -> int:
        """Return the number of threads; 0 if it cannot be set."""
        raise NotImplementedError

    def set_threads(self, count: int) -> None:
        raise NotImplementedError

    def settings(self) -> dict[str, Setting]:
        """Return the settings of the process, which calls leave as they are, by what they are."""
        found = {
            "the rounding of small numbers": Setting(_rounding, round_as_usual, "to denormal ones")
        }
        if self.threads():
            found["the number of threads"] = Setting(self.threads, self.set_threads, 3)
        return found

    def watch_memory(self, on: bool) -> None:
        """Have the guard watch the memory of new tensors, or not."""
        if self.guard is not None:
            self.guard.arm(on)

    # Gradients.

    def leaf(self, tensor: Any) -> Any:
        """Return a copy that requires a gradient."""
        return self.clone(tensor.detach()).requires_grad_()

    def requires_grad(self, tensor: Any) -> bool:
        return bool(tensor.requires_grad)

    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], weights: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients of the weighted outputs; None where an input has none."""
        grad = self.module.autograd.grad
        return list(grad(tuple(outputs), tuple(inputs), tuple(weights), allow_unused=True))

    def no_grad(self) -> Any:
        """Return a context in which no gradients are recorded."""
        return self.module.autograd.no_grad()

    def modes(self) -> dict[str, Callable[[], Any]]:
        """Return contexts in which the same call returns the same, by what they are."""
        return {
            "if its inputs require gradients": contextlib.nullcontext,
            "without recording gradients": self.no_grad,
        }

    def gradcheck(
        self, function: Callable[..., Any], inputs: Sequence[Any], *, forward: bool
    ) -> None:
        """Compare gradients with finite differences: backward formulas, or forward ones."""
        self.module.autograd.gradcheck(
            function,
            tuple(inputs),
            check_forward_ad=forward,
            check_backward_ad=not forward,
            **self.lenient,
        )

    def gradgradcheck(self, function: Callable[..., Any], inputs: Sequence[Any]) -> None:
        """Compare gradients of gradients with finite differences."""
        raise NotImplementedError

    def vmap(self, function: Callable[..., Any], dims: Sequence[int | None]) -> Any:
        return self.module.vmap(function, in_dims=tuple(dims))

    def pickled(self, tensor: Any) -> Any:
        """Return what remains after pickling and reading."""
        return pickle.loads(pickle.dumps(tensor, protocol=5))
