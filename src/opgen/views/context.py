"""What every view builder is given: the operators, the target, the library, and shared look-ups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.dispatch_tables import Registration, registrations
from opgen.targets.base import Target
from opgen.views.base import group_by
from opgen.views.composite_set import CompositeKernel, collect_composite_kernels
from opgen.views.kernel_set import KernelSet, collect_kernels
from opgen.views.text import Speller


@dataclass(frozen=True, slots=True)
class Library:
    """What is generated: its name, whose Tensor class it uses, and into how many shards."""

    name: str
    extends: str | None = None
    shards: int = 1

    @property
    def tensor_header(self) -> str:
        return f"{self.extends or self.name}/TensorBody.h"

    def header(self, name: str) -> str:
        """The header `name` as a kernel author includes it."""
        return f"{self.name}/{name}"


@dataclass(frozen=True)
class Context:
    """The inputs of all view builders, and what several of them look up."""

    registry: Registry
    target: Target
    library: Library

    @cached_property
    def spell(self) -> Speller:
        return Speller(self.target)

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
        keys = (*self.registry.dispatch_keys, DispatchKey.BackendSelect)
        found = {key: registrations(self.registry, key) for key in dict.fromkeys(keys)}
        return {key: rows for key, rows in found.items() if rows}

    @cached_property
    def kernels(self) -> KernelSet:
        """The functions that authors write for these operators."""
        return collect_kernels(self.registry, self.spell)

    @cached_property
    def composite_kernels(self) -> tuple[CompositeKernel, ...]:
        """The kernels that opgen writes itself."""
        return collect_composite_kernels(self.registry)
