"""A backend that is written outside of the operators' own library: which kernels it has, in which class."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import NativeFunctionsGroup


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A text of a file, and where it stands."""

    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


class StructuredRoute(Enum):
    """Which parts of a structured kernel the backend brings, and which are the library's that it extends.

    The value is the key of the backend file that lists the operators.
    """

    own_impl = "structured"
    own_meta_and_impl = "structured_own_meta"
    installed = "structured_installed"


@dataclass(frozen=True, slots=True)
class BackendFile:
    """What a backend YAML says, before its names are looked up. `supported` includes `full_codegen`.

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


@dataclass(frozen=True, slots=True)
class BackendKernel:
    """A static member function of the backend's class; one name may serve several operators."""

    function: NativeFunction
    name: str
    symint: bool
    span: Span = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class BackendIndex:
    """The kernels for one dispatch key, in the order of the registry."""

    key: DispatchKey
    kernels: tuple[BackendKernel, ...]
    _kernels: Mapping[str, BackendKernel] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kernels", {k.function.full_name: k for k in self.kernels})

    def find_kernel(self, f: NativeFunction) -> BackendKernel | None:
        return self._kernels.get(f.full_name)


@dataclass(frozen=True, slots=True)
class BackendStructured:
    """A structured kernel of the backend: one class, from which all members of `group` are made.

    `installed` is the kernel of the extended library that it stands for, if it is that one's.
    """

    group: NativeFunctionsGroup
    route: StructuredRoute
    name: str
    installed: Kernel | None
    span: Span = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ExternalBackend:
    """`forward` holds the kernels for the backend's key, `autograd` those for its autograd key.

    Unless `use_out_as_primary`, out= and in-place variants without a kernel are made from the
    functional one. With `device_guard`, tensors are checked to be on one device, which is made
    current. `structured` are its structured kernels, in the order of the registry. Of the operators in
    `out_as_primary` the functional and in-place variants are made from the out kernel. With
    `cpu_fallback`, all other operators run on the CPU.
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
    _structured: Mapping[str, BackendStructured] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        members = {f.full_name: s for s in self.structured for f in s.group.functions()}
        object.__setattr__(self, "_structured", members)

    @property
    def header(self) -> str:
        """The name of the header that declares the class."""
        return f"{self.forward.key.name}NativeFunctions.h"

    @property
    def indices(self) -> tuple[BackendIndex, ...]:
        return (self.forward,) if self.autograd is None else (self.forward, self.autograd)

    def find_structured(self, f: NativeFunction) -> BackendStructured | None:
        """The structured kernel that `f` is made from."""
        return self._structured.get(f.full_name)

    def find_index(self, key: DispatchKey) -> BackendIndex | None:
        return next((index for index in self.indices if index.key is key), None)
