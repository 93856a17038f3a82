"""<Key>NativeFunctions.h: the class whose static members are the kernels of an external backend; its fallback."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.cpp.signatures import DispatcherSignature
from opgen.emit.common.base import GeneratedFile, Record, group_by, sorted_includes
from opgen.emit.common.context import Context
from opgen.emit.common.kernel_set import specifier
from opgen.emit.common.text import SpelledSignature
from opgen.model.backend import BackendKernel, ExternalBackend
from opgen.model.dispatch_key import DispatchKey


class BackendMember(Record, frozen=True):
    """One C++ overload of a kernel, with the first operator and key that use it.

    `kept` is false if a selective build leaves out all of its operators.
    """

    schema: str
    operator: str
    root: str
    key: DispatchKey
    name: str
    returns: str
    parameter_list: tuple[str, ...]
    types: tuple[str, ...]
    kept: bool

    @property
    def parameters(self) -> str:
        return ", ".join(self.parameter_list)

    @property
    def declaration(self) -> str:
        return f"static {specifier(self.kept)}{self.returns} {self.name}({self.parameters});"


class BackendHeader(GeneratedFile, frozen=True):
    includes: tuple[str, ...]
    abi: int
    name: str
    key: str
    namespace: str
    class_name: str
    members: tuple[BackendMember, ...]


class FallbackFile(GeneratedFile, frozen=True):
    name: str
    key: str
    fallback_header: str


def build_backend(context: Context) -> Iterator[GeneratedFile]:
    """Yield the header of the backend's class, if there is a backend, and its fallback for other operators."""
    backend = context.backend
    if backend is None:
        return
    yield _header(context, backend)
    if backend.cpu_fallback and context.target.installed is not None:
        name = f"Register{backend.forward.key.name}Fallback.cpp"
        yield FallbackFile(
            path=f"src/{name}",
            template="RegisterFallback.cpp.j2",
            name=name,
            key=backend.forward.key.name,
            fallback_header=context.target.installed.fallback_header,
        )


def _header(context: Context, backend: ExternalBackend) -> BackendHeader:
    """Return the backend's class, members sorted by name and types."""
    members = sorted(backend_members(context), key=lambda m: (m.name, ", ".join(m.types)))
    return BackendHeader(
        path=f"include/{context.library.name}/{backend.header}",
        template="BackendNativeFunctions.h.j2",
        includes=sorted_includes(context.tensor_header, "opgen/operator.h"),
        abi=context.target.plan.runtime_abi,
        name=backend.header,
        key=backend.forward.key.name,
        namespace=backend.cpp_namespace,
        class_name=backend.class_name,
        members=tuple(members),
    )


def backend_members(context: Context) -> tuple[BackendMember, ...]:
    """Return the kernels to be written for the backend, in the order of the registry; none without a backend.

    Operators whose kernels have one name and the same C++ parameter types share a kernel.
    """
    if context.backend is None:
        return ()
    kernels = _kernels(context.backend)
    by_overload = group_by(kernels, lambda pair: (pair[1].name, _signature(context, pair[1]).types))
    return tuple(_member(context, uses) for uses in by_overload.values())


def _kernels(backend: ExternalBackend) -> Iterator[tuple[DispatchKey, BackendKernel]]:
    return ((index.key, kernel) for index in backend.indices for kernel in index.kernels)


def _signature(context: Context, kernel: BackendKernel) -> SpelledSignature:
    signature = DispatcherSignature.from_native_function(kernel.function, symint=kernel.symint)
    return context.spell.spelled(signature)


def _member(context: Context, uses: list[tuple[DispatchKey, BackendKernel]]) -> BackendMember:
    key, kernel = uses[0]
    signature = _signature(context, kernel)
    return BackendMember(
        schema=context.spell.schema(kernel.function),
        operator=kernel.function.full_name,
        root=kernel.function.root_name,
        key=key,
        name=kernel.name,
        returns=signature.returns,
        parameter_list=signature.parameter_list,
        types=signature.type_list,
        kept=any(context.keeps(kernel.function) for _, kernel in uses),
    )
