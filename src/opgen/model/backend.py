"""A backend that is written outside of the operators' own library: which kernels it has, in which class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opgen.diagnostics import Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A text of a file, and where it stands."""

    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class BackendFile:
    """What a backend YAML says, before its names are looked up. `supported` includes `full_codegen`."""

    backend: WrittenName
    cpp_namespace: WrittenName
    class_name: WrittenName | None = None
    supported: tuple[WrittenName, ...] = ()
    autograd: tuple[WrittenName, ...] = ()
    symint: tuple[WrittenName, ...] = ()
    use_out_as_primary: bool = False
    device_guard: bool = False


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
class ExternalBackend:
    """`forward` holds the kernels for the backend's key, `autograd` those for its autograd key.

    Unless `use_out_as_primary`, out= and in-place variants without a kernel are made from the
    functional one. With `device_guard`, tensors are checked to be on one device, which is made
    current.
    """

    cpp_namespace: str
    class_name: str
    forward: BackendIndex
    autograd: BackendIndex | None
    use_out_as_primary: bool
    device_guard: bool

    @property
    def header(self) -> str:
        """The name of the header that declares the class."""
        return f"{self.forward.key.name}NativeFunctions.h"

    @property
    def indices(self) -> tuple[BackendIndex, ...]:
        return (self.forward,) if self.autograd is None else (self.forward, self.autograd)

    def find_index(self, key: DispatchKey) -> BackendIndex | None:
        return next((index for index in self.indices if index.key is key), None)
