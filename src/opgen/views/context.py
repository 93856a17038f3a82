"""What every view builder is given: the operators, the target, the library, and shared look-ups."""

from __future__ import annotations

from functools import cached_property

from opgen.cpp.signatures import Signatures
from opgen.dataclasses import dataclass, field
from opgen.model.backend import ExternalBackend
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.backend import backend_registrations
from opgen.resolve.dispatch_tables import Registration, registrations_by_key
from opgen.resolve.selection import Selection
from opgen.targets.base import Target
from opgen.views.backend_kernels import collect_backend_kernels
from opgen.views.base import group_by
from opgen.views.composite_set import CompositeKernel, collect_composite_kernels
from opgen.views.kernel_set import KernelSet, collect_kernels
from opgen.views.text import Speller

# The source of the module of a library that has one.
MODULE_SOURCE = "python/module.cpp"


@dataclass(frozen=True, slots=True)
class Library:
    """What is generated: its name, whose Tensor class it uses, and into how many shards.

    A library that is `backend_only` has the kernels of an external backend for the operators of the
    library that it extends. `python` says whether it is made a module of Python, too, and
    `extends_python` whether the one that it extends is.
    """

    name: str
    extends: str | None = None
    shards: int = 1
    backend_only: bool = False
    python: bool = False
    extends_python: bool = False

    @property
    def tensor_header(self) -> str:
        return f"{self.extends or self.name}/TensorBody.h"

    def header(self, name: str) -> str:
        """The header `name` as a kernel author includes it."""
        return f"{self.name}/{name}"

    def operator_header(self, name: str) -> str:
        """The header `name` of an operator."""
        return f"{self.extends if self.backend_only else self.name}/{name}"


@dataclass(frozen=True)
class Context:
    """The inputs of all view builders, and what several of them look up."""

    registry: Registry
    target: Target
    library: Library
    backend: ExternalBackend | None = None
    selection: Selection | None = None
    signatures: Signatures = field(default_factory=Signatures)

    def keeps(self, f: NativeFunction) -> bool:
        """Whether `f` is compiled and registered: everything is, unless the build is selective."""
        return self.selection is None or self.selection.keeps(f)

    @property
    def selects_dtypes(self) -> bool:
        """Whether element types are left out, too: only if some are named at all."""
        selector = None if self.selection is None else self.selection.selector
        return selector is not None and selector.selects_dtypes and bool(selector.kernel_metadata)

    @cached_property
    def spell(self) -> Speller:
        return Speller(self.target, self.signatures)

    @property
    def tensor_header(self) -> str:
        """What declares the types of signatures."""
        return self.target.tensor_header or self.library.tensor_header

    @property
    def owns_tensor(self) -> bool:
        """Whether class Tensor is this library's own, so that operators can be its methods."""
        return self.library.extends is None and self.target.tensor_header is None

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Every root name, sorted: one set of headers each."""
        return tuple(sorted({f.root_name for f in self.registry.functions}))

    @cached_property
    def functions_by_root(self) -> dict[str, list[NativeFunction]]:
        return group_by(self.registry.functions, lambda f: f.root_name)

    @cached_property
    def registrations(self) -> dict[DispatchKey, tuple[Registration, ...]]:
        """For every dispatch key with kernels, what is registered for it."""
        found = {} if self.library.backend_only else registrations_by_key(self.registry)
        if self.backend is not None:
            for index in self.backend.indices:
                found[index.key] = backend_registrations(self.backend, index, self.registry)
        return {key: rows for key, rows in found.items() if rows}

    @cached_property
    def registered(self) -> dict[DispatchKey, tuple[Registration, ...]]:
        """`registrations` without those of operators that a selective build leaves out."""
        found = {
            key: tuple(row for row in rows if self.keeps(row.function))
            for key, rows in self.registrations.items()
        }
        return {key: rows for key, rows in found.items() if rows}

    @cached_property
    def kernels(self) -> KernelSet:
        """The functions that authors write for these operators."""
        if self.library.backend_only:
            header = self.library.operator_header
            return collect_backend_kernels(self.backend, self.spell, self.keeps, header)
        return collect_kernels(self.registry, self.spell, self.keeps)

    @cached_property
    def composite_kernels(self) -> tuple[CompositeKernel, ...]:
        """The kernels that opgen writes itself."""
        if self.library.backend_only:
            return ()
        return collect_composite_kernels(self.registry)
