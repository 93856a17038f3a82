"""The operators of a package of target runtime, called by JAX with its arrays."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from opgen.gradtest.calls import each
from opgen.model.native_function import NativeFunction
from opgen.python.frameworks import is_attribute, reasons_against_jax
from opgen.verify.backends.base import Described, returned
from opgen.verify.backends.runtime_backend import RuntimeBackend
from opgen.verify.calls.specs import (
    Array,
    Named,
    TensorSpec,
    Value,
    contiguous_strides,
    elements,
    flat,
)
from opgen.verify.memory.blocks import Block, Lent
from opgen.verify.subjects import Facts, Subject

# Why the properties of some names do not apply.
_REASONS = {
    "arrays of JAX have no strides": (
        *("write-between", "inplace-keeps", "strided-inputs", "expanded-inputs"),
        *("offset-inputs", "misaligned-inputs", "meta-strides", "gradient-strides"),
    ),
    "arrays of JAX do not change": (
        *("undeclared-alias", "missing-alias", "overlap", "exception-safe"),
        *("version-counter", "copying"),
    ),
    "all gradients are compared with finite differences": ("silent-zero", "integer-gradient"),
    "XLA allocates the results": ("uninitialised",),
    "JAX keeps what it has compiled": ("memory-returned",),
    "XLA calls the operators": ("gil",),
    "JAX has no generators": ("generator",),
}


class JaxBackend(RuntimeBackend):
    """A package that was built for JAX. Arguments that an operator writes are donated."""

    framework = "jax"
    has_tape = False
    not_applicable = MappingProxyType({name: why for why, n in _REASONS.items() for name in n})

    def _prepare(self, package: str) -> None:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        self._jax: Any = importlib.import_module("jax")
        self._jax.config.update("jax_enable_x64", True)
        self._test: Any = importlib.import_module("jax.test_util")
        try:
            self._functions_of_jax: Any = importlib.import_module(f"{package}.jax")
        except ModuleNotFoundError:
            raise ImportError(f"{package} was not built with --frameworks jax") from None
        self._left_out = {f.full_name: why for f, why in reasons_against_jax(self._functions)}
        self._failure = ""
        # Compiled calls of operators that write their arguments.
        self._steps: dict[str, Callable[..., Any]] = {}

    # Operators.

    def _subject(self, f: NativeFunction) -> Subject | None:
        plain = None if f.func.is_out_fn() else super()._subject(f)
        if plain is None:
            return None
        why = self._left_out.get(f.full_name, "")
        spelling = f"{self.module.__name__}.jax.{f.func.name.name}"
        call = self._call(f, plain)
        return Subject(f.namespace, f.func, call, Facts(untestable=why), spelling=spelling)

    def _call(self, f: NativeFunction, plain: Subject) -> Callable[[Mapping[str, Any]], Any]:
        passed = {
            a.name
            for a in f.func.arguments.flat_all
            if a.type.is_tensor_like() or is_attribute(a.type)
        }
        written = list(f.func.arguments.mutable_arg_names)

        def call(given: Mapping[str, Any]) -> Any:
            # New values replace the arguments that are written.
            assert isinstance(given, dict)
            kept = {name: value for name, value in given.items() if name in passed}
            found, self._failure = None, ""
            # Donated arrays are gone after a call that has failed.
            before = {**kept, **{n: np.array(kept[n]) for n in written if self._is_array(kept[n])}}
            try:
                found = self._results(f, kept, written)
            except Exception as error:
                if any(map(self._is_traced, self._leaves(kept))):
                    raise
                # What the library accepts is a result, so that the properties see both.
                try:
                    found = self._without_jax(plain, before, written)
                except Exception:
                    raise error from None
                self._failure = str(error).strip().partition("\n")[0]
            given.update(zip(written, found[len(found) - len(written) :]))
            return returned(f.func, given, found)

        return call

    def _results(
        self, f: NativeFunction, kept: Mapping[str, Any], written: Sequence[str]
    ) -> list[Any]:
        """Return the new results, then the new values of the written arguments."""
        function = getattr(self._functions_of_jax, str(f.func.name.name))
        arrays = {n: v for n, v in kept.items() if self._leaves({n: v})}
        rest = {n: v for n, v in kept.items() if n not in arrays}

        def of_arrays(donated: dict[str, Any], others: dict[str, Any]) -> Any:
            return function(**donated, **others, **rest)

        donated = {n: arrays.pop(n) for n in written}
        if any(isinstance(v, self._jax.ShapeDtypeStruct) for v in self._leaves(kept)):
            found = self._jax.eval_shape(of_arrays, donated, arrays)
        elif written and not any(map(self._is_traced, self._leaves(kept))):
            key = f"{f.full_name} {rest!r}"
            if key not in self._steps:
                self._steps[key] = self._jax.jit(of_arrays, donate_argnums=0)
            found = self._steps[key](donated, arrays)
        else:
            found = of_arrays(donated, arrays)
        if len(f.func.returns) == 1 and f.func.returns[0].type.is_list_like():
            return [list(found)]
        return list(found) if isinstance(found, tuple) else [found]

    def _without_jax(
        self, plain: Subject, kept: Mapping[str, Any], written: Sequence[str]
    ) -> list[Any]:
        """Return the same of the package, called with copies as its own tensors."""

        def own(value: Any) -> Any:
            if not self._is_array(value):
                return value
            return self._of_array(np.asarray(value), str(value.dtype), value.shape)

        def theirs(value: Any) -> Any:
            dtype = RuntimeBackend.describe(self, value).dtype
            return self._jax.numpy.asarray(RuntimeBackend.elements(self, value), dtype)

        given = {name: each(own, value) for name, value in kept.items()}
        found = plain.call(given)
        returns = plain.schema.returns
        values = [found] if len(returns) == 1 else list(found or ())
        new = [value for value, r in zip(values, returns) if not r.is_write]
        return [each(theirs, value) for value in (*new, *(given[name] for name in written))]

    def _is_array(self, value: Any) -> bool:
        return isinstance(value, self._jax.Array | np.ndarray)

    def _is_traced(self, value: Any) -> bool:
        return isinstance(value, self._jax.core.Tracer | self._jax.ShapeDtypeStruct)

    def _leaves(self, given: Mapping[str, Any]) -> list[Any]:
        return [value for value in flat(given.values()) if self.is_tensor(value)]

    def failure(self) -> str:
        return self._failure

    # Tensors.

    def over(self, block: Block) -> Any:
        spec, layout = block.spec, block.layout
        if layout.offset == 0 and layout.strides == contiguous_strides(spec.shape):
            # JAX copies it if it is not aligned.
            return self._jax.dlpack.from_dlpack(Lent(block.view(), spec.dtype))
        return self.fresh(spec)

    def sharing(self, block: Block, specs: Sequence[TensorSpec]) -> list[Any]:
        return [self.fresh(spec) for spec in specs]

    def fresh(self, spec: TensorSpec) -> Any:
        return self._jax.numpy.array(elements(spec), spec.dtype)

    def meta(self, spec: TensorSpec) -> Any:
        return self._jax.ShapeDtypeStruct(spec.shape, spec.dtype)

    def other(self, value: Value) -> Any:
        return value.name if isinstance(value, Named) else super().other(value)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self._jax.Array | self._jax.ShapeDtypeStruct)

    def describe(self, tensor: Any) -> Described:
        shape, dtype = tuple(tensor.shape), str(tensor.dtype)
        device = "meta" if isinstance(tensor, self._jax.ShapeDtypeStruct) else "cpu"
        return Described(shape, contiguous_strides(shape), dtype, device, 0, 0, 0)

    def elements(self, tensor: Any) -> Array:
        found: Array = np.asarray(tensor)
        return found.astype(np.float32) if tensor.dtype == "bfloat16" else found

    def watch_memory(self, on: bool) -> None:
        """XLA's memory is not watched."""

    # Gradients.

    def leaf(self, tensor: Any) -> Any:
        return tensor

    def clone(self, tensor: Any) -> Any:
        return tensor

    def is_differentiable(self, value: Any) -> bool:
        return self.requires_grad(value)

    def requires_grad(self, tensor: Any) -> bool:
        return bool(self._jax.numpy.issubdtype(tensor.dtype, self._jax.numpy.inexact))

    def no_grad(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def modes(self) -> dict[str, Callable[[], Any]]:
        return {}

    def gradcheck(
        self, function: Callable[..., Any], inputs: Sequence[Any], *, forward: bool
    ) -> None:
        self._check_gradients(function, inputs, 1, "fwd" if forward else "rev")

    def gradgradcheck(self, function: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self._check_gradients(function, inputs, 2, "rev")

    def _check_gradients(
        self, function: Callable[..., Any], inputs: Sequence[Any], order: int, mode: str
    ) -> None:
        try:
            self._test.check_grads(function, tuple(inputs), order, (mode,), 1e-4, 1e-4, 1e-5)
        except AssertionError as error:
            raise ValueError(f"invalid gradient: {error}") from None

    def vmap(self, function: Callable[..., Any], dims: Sequence[int | None]) -> Callable[..., Any]:
        found: Callable[..., Any] = self._jax.vmap(function, in_axes=tuple(dims))
        return found
