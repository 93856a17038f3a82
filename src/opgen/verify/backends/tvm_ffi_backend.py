"""The operators of a package of target runtime, called through TVM-FFI with the package's tensors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from opgen.model.native_function import NativeFunction
from opgen.python.frameworks import is_in_tvm_ffi, reasons_against_tvm_ffi, tvm_ffi_name
from opgen.verify.backends.base import returned
from opgen.verify.backends.runtime_backend import RuntimeBackend
from opgen.verify.calls.specs import Named, Value
from opgen.verify.subjects import Facts, Subject, default_of

# Why the properties of some names do not apply.
_REASONS = {
    "TVM-FFI calls no Meta kernel": ("meta-shape", "meta-strides", "meta-dtype", "meta-refuses"),
    "TVM-FFI computes no gradients": (
        *("backward-gradient", "forward-gradient", "second-gradient", "silent-zero"),
        *("integer-gradient", "gradient-strides", "version-counter"),
    ),
    "tensors are the caller's": ("out-resizes", "out-warns", "copying"),
    "DLPack does not tell which tensors share a storage": ("overlap",),
    "TVM-FFI has no generators": ("generator",),
    "TVM-FFI has no vmap": ("vmap",),
}


class TvmFfiBackend(RuntimeBackend):
    """A package that was built for TVM-FFI. Tensors are the package's, and pass through DLPack both ways."""

    framework = "tvm-ffi"
    not_applicable = MappingProxyType({name: why for why, n in _REASONS.items() for name in n})

    def _prepare(self, package: str) -> None:
        self._ffi: Any = importlib.import_module("tvm_ffi")
        library = Path(str(self.module.__file__)).parent / f"lib{package}_tvm_ffi.so"
        if not library.exists():
            raise ImportError(f"{package} was not built with --frameworks {self.framework}")
        # Where programs find it.
        self._library = self.module.tvm_ffi = self._ffi.load_module(library)
        self._left_out = {f.full_name: why for f, why in reasons_against_tvm_ffi(self._functions)}

    def _subject(self, f: NativeFunction) -> Subject | None:
        name, facts = tvm_ffi_name(f), Facts(untestable=self._left_out.get(f.full_name, ""))
        spelling = f"{self.module.__name__}.tvm_ffi.{name}"
        return Subject(f.namespace, f.func, self._call(f, name), facts, spelling=spelling)

    def _call(self, f: NativeFunction, name: str) -> Callable[[Mapping[str, Any]], Any]:
        arguments = f.func.arguments.flat_all
        news = sum(not r.is_write for r in f.func.returns)

        def call(given: Mapping[str, Any]) -> Any:
            function, positional = getattr(self._library, name), []
            for a in reversed(arguments):
                if a.name in given and is_in_tvm_ffi(a.type):
                    positional.append(given[a.name])
                elif positional:
                    # All are passed by position: in front of one that is given, none can be left out.
                    positional += default_of(a)
            found = function(*reversed(positional))
            results = [found] if news == 1 else found or ()
            return returned(f.func, given, map(self._own, results))

        return call

    def _own(self, value: Any) -> Any:
        """Return a result as one of the package."""
        if isinstance(value, self._ffi.Array):
            return [self._own(one) for one in value]
        return self.module.from_dlpack(value) if isinstance(value, self._ffi.Tensor) else value

    def other(self, value: Value) -> Any:
        if isinstance(value, Named) and value.kind in ("dtype", "device"):
            return getattr(self._ffi, value.kind)(value.name)
        return super().other(value)
