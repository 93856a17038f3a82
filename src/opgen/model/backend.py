"""Model of an external backend: its kernels, and the class that has them as members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property

from msgspec import Struct

from opgen.diagnostics import Located, Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import NativeFunctionsGroup


class WrittenName(Struct, frozen=True):
    """A string of a file, and its place."""

    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


class StructuredRoute(Enum):
    """The part of a structured kernel that the backend supplies; the rest comes from the library that it extends.

    The value is the key of the backend file that lists the operators.
    """

    own_impl = "structured"
    own_meta_and_impl = "structured_own_meta"
    installed = "structured_installed"


class BackendFile(Struct, frozen=True):
    """The contents of a backend YAML, before its names are looked up. `supported` includes `full_codegen`.

    `structured` holds the names under each of the keys for structured kernels, in their order.
    """

    backend: WrittenName
    cpp_namespace: WrittenName
    class_name: WrittenName | None = None
    supported: tuple[WrittenName, ...] = ()
    autograd: tuple[WrittenName, ...] = ()
    symint: tuple[WrittenName, ...] = ()
    use_out_as_primary: bool = False
    device_guard: bool = False
    structured: tuple[tuple[StructuredRoute, WrittenName], ...] = ()
    out_as_primary: tuple[WrittenName, ...] = ()
    cpu_fallback: bool = False


class BackendKernel(Located, Struct, frozen=True):
    """A static member function of the backend's class; one name may serve several operators."""

    function: NativeFunction
    name: str
    symint: bool
    span: Span


class BackendIndex(Struct, frozen=True, dict=True):
    """The kernels for one dispatch key, in the order of the registry."""

    key: DispatchKey
    kernels: tuple[BackendKernel, ...]

    @cached_property
    def _kernels(self) -> Mapping[str, BackendKernel]:
        return {k.function.full_name: k for k in self.kernels}

    def find_kernel(self, f: NativeFunction) -> BackendKernel | None:
        return self._kernels.get(f.full_name)


class BackendStructured(Located, Struct, frozen=True):
    """A structured kernel of the backend: one class that serves all members of `group`.

    If it is a kernel of the extended library, `installed` is that kernel.
    """

    group: NativeFunctionsGroup
    route: StructuredRoute
    name: str
    installed: Kernel | None
    span: Span


class ExternalBackend(Struct, frozen=True, dict=True):
    """A backend: `forward` contains the kernels for its key, `autograd` those for its autograd key.

    Without `use_out_as_primary`, opgen generates out= and in-place variants that have no kernel from the functional
    kernel. For operators in `out_as_primary`, it generates the functional and in-place variants from the out kernel.
    With `device_guard`, generated code checks that all tensors are on one device, and makes it current. `structured` are
    the backend's structured kernels, in the order of the registry. With `cpu_fallback`, all other operators run on the
    CPU.
    """

    cpp_namespace: str
    class_name: str
    forward: BackendIndex
    autograd: BackendIndex | None
    use_out_as_primary: bool
    device_guard: bool
    structured: tuple[BackendStructured, ...] = ()
    out_as_primary: frozenset[str] = frozenset()
    cpu_fallback: bool = False

    @cached_property
    def _structured(self) -> Mapping[str, BackendStructured]:
        return {f.full_name: s for s in self.structured for f in s.group.functions()}

    @property
    def header(self) -> str:
        """Return the name of the header that declares the class."""
        return f"{self.forward.key.name}NativeFunctions.h"

    @property
    def indices(self) -> tuple[BackendIndex, ...]:
        return (self.forward,) if self.autograd is None else (self.forward, self.autograd)

    def kernels(self) -> Iterator[BackendKernel]:
        return (kernel for index in self.indices for kernel in index.kernels)

    def find_structured(self, f: NativeFunction) -> BackendStructured | None:
        """Return the structured kernel that serves `f`; None if there is none."""
        return self._structured.get(f.full_name)

    def find_index(self, key: DispatchKey) -> BackendIndex | None:
        return next((index for index in self.indices if index.key is key), None)
