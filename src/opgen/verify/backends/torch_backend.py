"""PyTorch's tensors, and the operators of any library that PyTorch has loaded."""

from __future__ import annotations

import ctypes
import importlib
import io
import os
import pickle
import re
import runpy
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from opgen.diagnostics import Diagnostics
from opgen.gradtest.backends import TorchTensors
from opgen.gradtest.calls import by_position
from opgen.model.cpp_words import RESERVED_PREFIX
from opgen.model.function_schema import FunctionSchema
from opgen.model.profile import Profile
from opgen.parse.schema.grammar import parse_function_schema
from opgen.verify.backends.base import BaseBackend, Described, Setting
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


class TorchBackend(BaseBackend, TorchTensors):
    """PyTorch, with the operators of some namespaces."""

    kind = "torch"
    lenient = MappingProxyType({"check_undefined_grad": False, "check_batched_grad": False})

    def __init__(
        self,
        loads: Sequence[str],
        namespaces: Sequence[str],
        guard: Guard | None,
        folders: Sequence[str] = (),
    ) -> None:
        super().__init__("torch", folders, guard)
        before = set(self.module._C._dispatch_get_all_op_names())
        for name in loads:
            self._load(name)
        names = set(self.module._C._dispatch_get_all_op_names())
        new = {name.partition("::")[0] for name in names - before}
        self.namespaces = tuple(namespaces) or tuple(sorted(new))
        # Of their operators, those that opgen's code calls for others are not verified.
        self._names = sorted(
            name
            for name, namespace, base in ((n, *n.split("::", 1)) for n in names)
            if namespace in self.namespaces and not base.startswith(RESERVED_PREFIX)
        )
        torch = self.module
        self._dtypes = {name: getattr(torch, name) for name in DTYPES}
        self._names_of_dtypes = {value: name for name, value in self._dtypes.items()}
        self._generator = torch.default_generator
        torch.set_warn_always(True)

    def _load(self, name: str) -> None:
        if name.endswith(".py") and os.path.exists(name):
            runpy.run_path(name, run_name="opgen_verify_loaded")
        elif os.path.exists(name) or name.endswith((".so", ".pyd", ".dll", ".dylib")):
            self.module.ops.load_library(os.path.abspath(name))
        else:
            importlib.import_module(name)

    # Operators.

    def subjects(self) -> list[Subject]:
        """Return all operators, sorted by name."""
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
        positional = tuple(a.name for a in schema.arguments.flat_positional)

        def call(given: Mapping[str, Any]) -> Any:
            leading, others = by_position(positional, given)
            return handle(*leading, **others)

        facts, spelling = self._facts(name, handle), f"torch.ops.{namespace}.{short}"
        spelling += f".{overload or 'default'}"
        return Subject(namespace, schema, call, facts, spelling=spelling, handle=handle)

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
        """Return a tensor on the memory of a block."""
        spec, raw = block.spec, block.storage
        if spec.dtype == "bfloat16":
            base = self.module.from_numpy(raw.view(np.int16)).view(self.module.bfloat16)
        else:
            base = self.module.from_numpy(raw.view(spec.dtype))
        return self._laid_out(base, spec, block.layout)

    def sharing(self, block: Block, specs: Sequence[TensorSpec]) -> list[Any]:
        """Return tensors on the storage of a block: rows of it, as the layouts of some specs say."""
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
        """Return a tensor without elements, on device meta."""
        dtype = self._dtypes[spec.dtype]
        if spec.layout is None:
            return self.module.empty(spec.shape, dtype=dtype, device="meta")
        layout = spec.layout
        base = self.module.empty(layout.count, dtype=dtype, device="meta")
        return self._with_bit(base.as_strided(spec.shape, layout.strides, layout.offset), spec)

    def describe(self, tensor: Any) -> Described:
        if tensor.layout == self.module.strided:
            return super().describe(tensor)
        dtype = self._names_of_dtypes.get(tensor.dtype, str(tensor.dtype))
        return Described(tuple(tensor.shape), (), dtype, tensor.device.type, 0, 0, 0)

    def storage(self, tensor: Any) -> tuple[int, int]:
        if type(tensor) is not self.module.Tensor:
            return 0, 0
        held = tensor.untyped_storage()
        return held.data_ptr(), held.nbytes()

    def elements(self, tensor: Any) -> Array:
        """Return the elements; those of bfloat16 as float32."""
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
        """Seed the default generator."""
        self._generator.manual_seed(seed)

    def random_state(self) -> bytes:
        """Return the state of the default generator."""
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

    # Gradients.

    def modes(self) -> dict[str, Callable[[], Any]]:
        return {**super().modes(), "in inference mode": self.module.inference_mode}

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
