"""The tensors and operators of a package of target runtime."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from opgen.gradtest.backends import PackageTensors
from opgen.gradtest.calls import by_position
from opgen.model.function_schema import FunctionSchema
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.types import BaseTy, BaseType
from opgen.verify.backends.base import BaseBackend
from opgen.verify.calls.specs import (
    Array,
    TensorSpec,
    contiguous_strides,
    elements,
    span,
    stored,
)
from opgen.verify.memory.blocks import Block, Lent
from opgen.verify.memory.guard import Guard
from opgen.verify.subjects import Subject

_TENSOR = BaseType(BaseTy.Tensor)
_RUNTIME = re.compile(r"\S*libopgen_runtime\.so\S*")


class RuntimeBackend(BaseBackend, PackageTensors):
    """A package of target runtime. `functions` are the entries of its schema files."""

    kind = "runtime"

    def __init__(
        self,
        package: str,
        folders: Sequence[str],
        functions: Sequence[NativeFunction],
        guard: Guard | None,
    ) -> None:
        super().__init__(package, folders, guard)
        if not hasattr(self.module, "Tensor"):
            raise ImportError(f"{package} is not a package of target runtime")
        self._functions = functions
        self._runtime = _runtime_library()
        self._prepare(package)

    def _prepare(self, package: str) -> None:
        """Load what calls the operators, if the package does not itself. Raises ImportError."""

    # Operators.

    def subjects(self) -> list[Subject]:
        found = [subject for f in self._functions if (subject := self._subject(f)) is not None]
        return sorted(found, key=lambda subject: subject.name)

    def _subject(self, f: NativeFunction) -> Subject | None:
        place, spelling = self._place(f)
        function = getattr(place, str(f.func.name.name), None)
        if function is None:
            return None
        spelling = f"{spelling}.{f.func.name.name}"
        return Subject(f.namespace, f.func, _caller(function, f.func, spelling), spelling=spelling)

    def _place(self, f: NativeFunction) -> tuple[Any, str]:
        """Return where Python finds an operator: the package, a submodule, or class Tensor."""
        module, name = self.module, self.module.__name__
        if f.python_module:
            place = getattr(module, f.python_module, None)
            return place, f"{name}.{f.python_module}"
        if Variant.function not in f.variants or not hasattr(module, str(f.func.name.name)):
            return module.Tensor, f"{name}.Tensor"
        return module, name

    # Tensors.

    def over(self, block: Block) -> Any:
        spec, layout, skipped = block.spec, block.layout, 0
        if layout.offset and spec.shape and layout.strides[0]:
            # A view that begins behind the first element of its storage: the tail of a tensor that is longer by the rows before
            # it, if they are whole.
            rows, rest = divmod(layout.offset, layout.strides[0])
            skipped = 0 if rest else rows
        whole = self.module.from_dlpack(Lent(block.view(skipped), spec.dtype))
        return whole[skipped:] if skipped else whole

    def sharing(self, block: Block, specs: Sequence[TensorSpec]) -> list[Any]:
        base = self.over(block)
        found = []
        for spec in specs:
            layout = spec.layout
            assert layout is not None
            first = layout.offset // layout.strides[0]
            found.append(base[first : first + spec.shape[0]])
        return found

    def fresh(self, spec: TensorSpec) -> Any:
        if spec.layout is None:
            return self._of_array(elements(spec), spec.dtype, spec.shape)
        layout = spec.layout
        raw = np.zeros(layout.count, stored(np.zeros(1, np.float32), spec.dtype).dtype)
        if span(spec.shape, layout.strides):
            steps = tuple(step * raw.itemsize for step in layout.strides)
            view = np.lib.stride_tricks.as_strided(raw[layout.offset :], spec.shape, steps)
            view[...] = stored(elements(spec), spec.dtype)
            if spec.dtype != "bfloat16":
                return self.module.from_numpy(view)
        base = self._of_array(np.zeros(layout.count), spec.dtype, (layout.count,))
        if raw.nbytes:
            ctypes.memmove(base.data_ptr(), raw.ctypes.data, raw.nbytes)
        return self._strided(base, spec)

    def _strided(self, base: Any, spec: TensorSpec) -> Any:
        layout = spec.layout
        assert layout is not None
        if hasattr(base, "as_strided"):
            return base.as_strided(spec.shape, layout.strides, layout.offset)
        if layout.strides == contiguous_strides(spec.shape) and len(spec.shape) == 1:
            return base[layout.offset : layout.offset + spec.shape[0]]
        raise NotImplementedError("the package has no as_strided")

    def _of_array(self, numbers: Array, dtype: str, shape: Sequence[int]) -> Any:
        wide = numbers.astype(np.float32) if dtype == "bfloat16" else numbers.astype(dtype)
        return self.module.tensor(np.ascontiguousarray(wide).reshape(shape), dtype=dtype)

    def meta(self, spec: TensorSpec) -> Any:
        shape = spec.shape if spec.layout is None else spec.layout.count
        made = self.module.tensor(np.zeros(shape, np.float32), dtype=spec.dtype, device="meta")
        return made if spec.layout is None else self._strided(made, spec)

    def elements(self, tensor: Any) -> Array:
        found: Array = np.asarray(tensor.detach())
        return found

    # Around calls, and gradients.

    def gradgradcheck(self, function: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self.check_second(function, list(inputs), forward=False)

    def seed(self, seed: int) -> None:
        self.module.manual_seed(seed)

    def random_state(self) -> bytes:
        # The package has no access to the state of its default generator.
        return b""

    def set_threads(self, count: int) -> None:
        if self._runtime is not None:
            self._runtime.opgen_set_num_threads(count)

    def threads(self) -> int:
        return 0 if self._runtime is None else int(self._runtime.opgen_get_num_threads())

    def watch_memory(self, on: bool) -> None:
        if self.guard is not None and self._runtime is not None:
            self.guard.arm(on)
            functions = self.guard.allocator() if on else (None, None)
            self._runtime.opgen_set_cpu_allocator(*functions)


def _caller(
    function: Any, schema: FunctionSchema, spelling: str
) -> Callable[[Mapping[str, Any]], Any]:
    arguments = schema.arguments
    is_method = spelling.endswith(f".Tensor.{schema.name.name}")
    positional = [a.name for a in arguments.flat_positional]
    if is_method:
        positional = ["self", *(name for name in positional if name != "self")]
    own = arguments.self_arg
    has_self = own is not None and own.argument.type == _TENSOR
    outs = tuple(a.name for a in arguments.out)

    def call(given: Mapping[str, Any]) -> Any:
        leading, rest = by_position(positional, given)
        if len(outs) > 1 and all(name in rest for name in outs):
            rest["out"] = tuple(rest.pop(name) for name in outs)
        elif len(outs) == 1 and outs[0] in rest:
            rest["out"] = rest.pop(outs[0])
        if "self" in rest and has_self:
            rest["input"] = rest.pop("self")
        return function(*leading, **rest)

    return call


def _runtime_library() -> Any:
    """Return the runtime that this process has loaded, with its C API; None if it has no such library or is older."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return None
    found = _RUNTIME.search(maps.read_text())
    if found is None:
        return None
    library = ctypes.CDLL(found[0])
    if not hasattr(library, "opgen_set_cpu_allocator"):
        return None
    library.opgen_set_cpu_allocator.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return library
