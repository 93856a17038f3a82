"""The input of every builder: the operators, the target, the library, and look-ups that builders share."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct, field

from opgen.autograd.derivative import DifferentiableFunction
from opgen.autograd.formula_files import FormulaFiles
from opgen.autograd.kernels import has_no_gradient
from opgen.cpp.names import cpp_name
from opgen.cpp.signatures import Signatures
from opgen.emit.common.backend_kernels import collect_backend_kernels
from opgen.emit.common.base import group_by
from opgen.emit.common.composite_set import CompositeKernel, collect_composite_kernels
from opgen.emit.common.kernel_set import KernelSet, collect_kernels
from opgen.emit.common.text import Speller
from opgen.model.backend import ExternalBackend
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.backend import backend_registrations
from opgen.resolve.dispatch_tables import Registration, registrations_by_key
from opgen.resolve.selection import Selection
from opgen.targets.base import Target

# The source of the module of a library that has one.
MODULE_SOURCE = "python/module.cpp"


class Library(Struct, frozen=True):
    """The generated library: its name, the library whose class Tensor it uses, and its number of shards.

    A library that is `backend_only` has the kernels of an external backend for the operators of the
    library that it extends. `python` is whether it is also a Python package, and `extends_python` whether the extended
    library is one. `torch` is the oldest release of PyTorch that the library works with, if it works with several.
    """

    name: str
    extends: str | None = None
    shards: int = 1
    backend_only: bool = False
    python: bool = False
    extends_python: bool = False
    torch: str = ""

    @property
    def tensor_header(self) -> str:
        return f"{self.extends or self.name}/TensorBody.h"

    def header(self, name: str) -> str:
        """Return the header `name` as a kernel author includes it."""
        return f"{self.name}/{name}"

    def operator_header(self, name: str) -> str:
        """Return the header `name` of an operator."""
        return f"{self.extends if self.backend_only else self.name}/{name}"


class Context(Struct, frozen=True, dict=True):
    """The inputs of all builders, and look-ups that several of them share.

    `gradients` has the gradients of all operators with formulas, and is empty without formulas.
    """

    registry: Registry
    target: Target
    library: Library
    backend: ExternalBackend | None = None
    selection: Selection | None = None
    signatures: Signatures = field(default_factory=Signatures)
    gradients: tuple[DifferentiableFunction, ...] = ()
    formula_files: FormulaFiles = FormulaFiles()

    def keeps(self, f: NativeFunction) -> bool:
        """Return whether `f` is compiled and registered: always, unless the build is selective."""
        return self.selection is None or self.selection.keeps(f)

    @property
    def selects_dtypes(self) -> bool:
        """Return whether the build also selects element types: only if the selection names some."""
        selector = None if self.selection is None else self.selection.selector
        return selector is not None and selector.selects_dtypes and bool(selector.kernel_metadata)

    @cached_property
    def recorded(self) -> frozenset[str]:
        """The full names of the operators with a formula that serves all backends."""
        return frozenset(
            fn.func.full_name
            for fn in self.gradients
            if DEFAULT_KEY in fn.infos
            and fn.infos[DEFAULT_KEY].has_derivatives
            and fn.func.func.kind() is not SchemaKind.out
        )

    @cached_property
    def without_gradient(self) -> frozenset[str]:
        """The full names of the operators whose formulas declare that they have no gradient."""
        return frozenset(fn.func.full_name for fn in self.gradients if has_no_gradient(fn))

    @cached_property
    def spell(self) -> Speller:
        return Speller(self.target, self.signatures)

    @property
    def tensor_header(self) -> str:
        """The header that declares the types of signatures."""
        return self.target.cpp.tensor_header or self.library.tensor_header

    @property
    def owns_tensor(self) -> bool:
        """Whether class Tensor is this library's own, so that operators can be its methods."""
        return self.library.extends is None and self.target.cpp.tensor_header is None

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Every root name, sorted. Each has one set of headers."""
        return tuple(sorted({f.root_name for f in self.registry.functions}))

    @cached_property
    def outs(self) -> tuple[NativeFunction, ...]:
        """The out variants of all operators."""
        return tuple(f for f in self.registry.functions if f.func.kind() is SchemaKind.out)

    @cached_property
    def cpp_names(self) -> dict[str, frozenset[str]]:
        """The C++ names of the operators of each namespace."""
        grouped = group_by(self.registry.functions, lambda f: f.namespace)
        return {
            namespace: frozenset(str(cpp_name(f.func)) for f in functions)
            for namespace, functions in grouped.items()
        }

    @cached_property
    def functions_by_root(self) -> dict[str, list[NativeFunction]]:
        return group_by(self.registry.functions, lambda f: f.root_name)

    @cached_property
    def registrations(self) -> dict[DispatchKey, tuple[Registration, ...]]:
        """The registrations of every dispatch key that has kernels."""
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
        """The kernels that opgen generates."""
        if self.library.backend_only:
            return ()
        return collect_composite_kernels(self.registry)
