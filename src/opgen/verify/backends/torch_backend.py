"""PyTorch's tensors, and the operators of any library that PyTorch has loaded."""

from __future__ import annotations

import ctypes
import importlib
import io
import os
import pickle
import re
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opgen.diagnostics import Diagnostics
from opgen.gradtest.backends import TorchTensors
from opgen.gradtest.calls import by_position
from opgen.model.cpp_words import RESERVED_PREFIX
from opgen.model.function_schema import FunctionSchema
from opgen.model.profile import Profile
from opgen.parse import parse_function_schema
from opgen.verify.backends.base import Backend, Described, Setting
from opgen.verify.calls.specs import (
    DTYPES,
    Array,
    Layout,
    TensorSpec,
    array_dtype,
    dense_layout,
    elements,
    stored,
)
from opgen.verify.memory.blocks import Block
from opgen.verify.memory.guard import Guard
from opgen.verify.subjects import POINTWISE, Facts, Subject

# PyTorch prints `Tensor!` as `Tensor($0! -> )`, with an alias set that it made up.
_FRESH = re.compile(r"\(\$\d+(!?)(?: -> )?\)")
# What opgen generates for torch.compile alone.
_HIDDEN = ("opgen_writer_", "opgen_functional_", "opgen_copy_")


class TorchBackend(Backend):
    """PyTorch, with the operators of some namespaces."""

    kind = "torch"

    def __init__(
        self,
        loads: Sequence[str],
        namespaces: Sequence[str],
        guard: Guard | None,
        folders: Sequence[str] = (),
    ) -> None:
        sys.path[:0] = folders
        self.module = importlib.import_module("torch")
        self.tensors = TorchTensors(self.module)
        self.guard = guard
        before = set(self.module._C._dispatch_get_all_op_names())
        for name in loads:
            self._load(name)
        names = set(self.module._C._dispatch_get_all_op_names())
        new = {name.partition("::")[0] for name in names - before}
        self.namespaces = tuple(namespaces) or tuple(sorted(new))
        self._names = sorted(n for n in names if self._is_verified(n))
        torch = self.module
        self._dtypes = {name: getattr(torch, name) for name in DTYPES}
        self._names_of_dtypes = {value: name for name, value in self._dtypes.items()}
        self._generator = torch.default_generator
        torch.set_warn_always(True)

    def _is_verified(self, name: str) -> bool:
        """Whether an operator is of the namespaces, and not one that opgen's code calls for others."""
        namespace, _, base = name.partition("::")
        return namespace in self.namespaces and not base.startswith(RESERVED_PREFIX)

    def _load(self, name: str) -> None:
        if name.endswith(".py") and os.path.exists(name):
            runpy.run_path(name, run_name="opgen_verify_loaded")
        elif os.path.exists(name) or name.endswith((".so", ".pyd", ".dll", ".dylib")):
            self.module.ops.load_library(os.path.abspath(name))
        else:
            importlib.import_module(name)

    # Operators.

    def subjects(self) -> list[Subject]:
        return [found for name in self._names if (found := self._subject(name)) is not None]

    def _subject(self, name: str) -> Subject | None:
        torch = self.module
        base, _, overload = name.partition(".")
        namespace, _, short = base.partition("::")
        if short.startswith(_HIDDEN):
            return None
        try:
            text = str(torch._C._get_schema(base, overload))
        except RuntimeError:
            return None
        schema = parsed(_FRESH.sub(r"\1", text).partition("::")[2])
        if schema is None:
            return None
        packet = getattr(getattr(torch.ops, namespace), short)
        handle = getattr(packet, overload or "default")
        return Subject(
            namespace,
            schema,
            self._caller(handle, schema),
            self._facts(name, handle),
            spelling=f"torch.ops.{namespace}.{short}.{overload or 'default'}",
            handle=handle,
        )

    def _caller(self, handle: Any, schema: FunctionSchema) -> Callable[[Mapping[str, Any]], Any]:
        positional = tuple(a.name for a in schema.arguments.flat_positional)

        def call(given: Mapping[str, Any]) -> Any:
            leading, others = by_position(positional, given)
            return handle(*leading, **others)

        return call

    def _facts(self, name: str, handle: Any) -> Facts:
        c = self.module._C
        has = c._dispatch_has_kernel_for_dispatch_key
        tags = frozenset(tag.name for tag in handle.tags)
        composite = has(name, "CompositeImplicitAutograd") and not has(name, "CPU")
        meta = c._dispatch_has_computed_kernel_for_dispatch_key(name, "Meta")
        formulas = has(name, "Autograd") or has(name, "AutogradCPU")
        on_cpu = c._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU")
        # A factory chooses its device, and a kernel for Autograd may call other operators.
        on_cpu = on_cpu or formulas or has(name, "BackendSelect")
        return Facts(
            tags=tags,
            is_composite=bool(composite),
            has_meta=bool(meta),
            is_pointwise=POINTWISE in tags,
            formulas=bool(formulas) or None,
            has_batching_rule=bool(has(name, "FuncTorchBatched")),
            untestable="" if on_cpu else "it has no kernel for tensors of the CPU",
        )

    # Tensors.

    def over(self, block: Block) -> Any:
        spec, layout = block.spec, block.layout
        raw = block.storage
        if spec.dtype == "bfloat16":
            base = self.module.from_numpy(raw.view(np.int16)).view(self.module.bfloat16)
        else:
            base = self.module.from_numpy(raw.view(spec.dtype))
        return self._laid_out(base, spec, layout)

    def sharing(self, block: Block, specs: Sequence[TensorSpec]) -> list[Any]:
        base = self.over(block)
        return [self._laid_out(base, s, s.layout) for s in specs if s.layout is not None]

    def _with_bit(self, tensor: Any, spec: TensorSpec) -> Any:
        if spec.bit == "conj":
            return tensor.conj()
        return self.module._neg_view(tensor) if spec.bit == "neg" else tensor

    def fresh(self, spec: TensorSpec) -> Any:
        dtype, layout = self._dtypes[spec.dtype], spec.layout or dense_layout(spec)
        base = self.module.zeros(layout.count, dtype=dtype)
        if spec.count:
            # torch.tensor takes ten times as long, and makes threads for a large array. numpy() makes a storage that no operator
            # can resize.
            room = (ctypes.c_char * base.nbytes).from_address(base.data_ptr())
            flat: Array = np.frombuffer(room, array_dtype(spec.dtype))
            steps = tuple(step * spec.itemsize for step in layout.strides)
            view = np.lib.stride_tricks.as_strided(flat[layout.offset :], spec.shape, steps)
            view[...] = stored(elements(spec), spec.dtype)
        return self._laid_out(base, spec, layout)

    def _laid_out(self, base: Any, spec: TensorSpec, layout: Layout) -> Any:
        """Return a tensor on the storage of another one."""
        made = base.new_empty(0).set_(
            base.untyped_storage(), layout.offset, spec.shape, layout.strides
        )
        return self._with_bit(made, spec)

    def meta(self, spec: TensorSpec) -> Any:
        dtype = self._dtypes[spec.dtype]
        if spec.layout is None:
            return self.module.empty(spec.shape, dtype=dtype, device="meta")
        layout = spec.layout
        base = self.module.empty(layout.count, dtype=dtype, device="meta")
        return self._with_bit(base.as_strided(spec.shape, layout.strides, layout.offset), spec)

    def describe(self, tensor: Any) -> Described:
        device = tensor.device.type
        dtype = self._names_of_dtypes.get(tensor.dtype, str(tensor.dtype))
        if tensor.layout != self.module.strided:
            return Described(tuple(tensor.shape), (), dtype, device, 0, 0, 0)
        storage = size = 0
        if device == "cpu" and type(tensor) is self.module.Tensor:
            held = tensor.untyped_storage()
            storage, size = held.data_ptr(), held.nbytes()
        return Described(
            tuple(tensor.shape),
            tuple(tensor.stride()),
            dtype,
            device,
            tensor.storage_offset(),
            storage,
            size,
        )

    def elements(self, tensor: Any) -> Array:
        tensor = tensor.detach()
        if tensor.layout != self.module.strided:
            tensor = tensor.to_dense()
        tensor = tensor.resolve_conj().resolve_neg()
        if tensor.dtype not in self._names_of_dtypes or tensor.dtype == self.module.bfloat16:
            tensor = tensor.to(
                self.module.complex64 if tensor.is_complex() else self.module.float32
            )
        found: Array = tensor.numpy()
        return found

    # Around calls.

    def seed(self, seed: int) -> None:
        self._generator.manual_seed(seed)

    def random_state(self) -> bytes:
        return bytes(self._generator.get_state().numpy())

    def set_threads(self, count: int) -> None:
        self.module.set_num_threads(count)

    def threads(self) -> int:
        return int(self.module.get_num_threads())

    def settings(self) -> dict[str, Setting]:
        torch = self.module
        return {
            **super().settings(),
            "the default dtype": Setting(
                torch.get_default_dtype, torch.set_default_dtype, torch.float32
            ),
            "whether gradients are recorded": Setting(
                torch.is_grad_enabled, torch.set_grad_enabled, True
            ),
        }

    def watch_memory(self, on: bool) -> None:
        if self.guard is not None:
            self.guard.arm(on)

    # Gradients.

    def leaf(self, tensor: Any) -> Any:
        return tensor.detach().clone().requires_grad_()

    def modes(self) -> dict[str, Callable[[], Any]]:
        return {**super().modes(), "in inference mode": self.module.inference_mode}

    def gradcheck(
        self, function: Callable[..., Any], inputs: Sequence[Any], *, forward: bool
    ) -> None:
        self.module.autograd.gradcheck(
            function,
            tuple(inputs),
            check_forward_ad=forward,
            check_backward_ad=not forward,
            check_undefined_grad=False,
            check_batched_grad=False,
        )

    def gradgradcheck(self, function: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self.module.autograd.gradgradcheck(function, tuple(inputs), check_undefined_grad=False)

    def pickled(self, tensor: Any) -> Any:
        text = io.BytesIO()
        self.module.save(tensor, text)
        text.seek(0)
        read = self.module.load(text)
        again = pickle.loads(pickle.dumps(tensor))
        if not self.module.equal(read, again) and not read.isnan().any():
            raise RuntimeError("torch.save and pickle differ")
        return read


def parsed(text: str) -> FunctionSchema | None:
    """Parse a schema, without its namespace, as PyTorch prints it; None if it has names that C++ or opgen do not allow."""
    return parse_function_schema(text, Diagnostics(), profile=Profile.library)
