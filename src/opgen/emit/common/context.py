"""The input of every builder: the operators, the target, the library, and look-ups that builders share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.autograd.derivative import DifferentiableFunction, FormulaFiles
from opgen.autograd.kernels import has_no_gradient
from opgen.cpp.cpp_types import base_names
from opgen.cpp.names import cpp_name, kernel_namespace
from opgen.cpp.signatures import Signatures
from opgen.emit.common.base import Record, group_by, unique
from opgen.emit.common.kernel_set import (
    KernelSet,
    collect_kernels,
    meta_class_of,
    structured_kernel,
)
from opgen.emit.common.text import Speller, cpp_operator
from opgen.model.backend import ExternalBackend, StructuredRoute
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import Kernel, NativeFunction, Variant
from opgen.model.profile import operator_namespace
from opgen.model.registry import NativeFunctionsGroup, Registry
from opgen.model.selector import Selection
from opgen.model.types import CustomClassType, custom_classes
from opgen.resolve.backend import backend_registrations
from opgen.resolve.dispatch_tables import Registration, registrations_by_key
from opgen.resolve.functional_forms import has_own_copy
from opgen.targets.base import Target


class CompositeKernel(Record, frozen=True):
    """The generated kernel of `function`, which calls `source`.

    A copy of a view clones the results of the view. A functional variant clones the arguments that the in-place or mutable
    `source` writes. An out variant copies the results of the functional `source` into the outs.
    """

    function: NativeFunction
    kernel: Kernel
    source: NativeFunction


def collect_composite_kernels(registry: Registry) -> Iterator[CompositeKernel]:
    """Yield the copies of views, then the generated variants, each in the order of the registry."""
    for views in registry.view_groups:
        copy = views.view_copy
        # slice_scatter, which copies for slice_inverse, has another name than `f_copy`, and a kernel of its own.
        if copy is not None and has_own_copy(copy, views.view):
            kernel = copy.find_kernel(DispatchKey.CompositeExplicitAutogradNonFunctional)
            if kernel is not None:
                yield CompositeKernel(copy, kernel, views.view)
    for group in registry.groups:
        sources = ((group.functional, _written_sibling), (group.out, lambda g: g.functional))
        for f, source in sources:
            if "generated" in f.tags:
                kernel = f.find_kernel(DispatchKey.CompositeExplicitAutograd)
                assert kernel is not None, f"{f.full_name} is generated without a kernel"
                yield CompositeKernel(f, kernel, source(group))


def _written_sibling(group: NativeFunctionsGroup) -> NativeFunction:
    """Return the operator that a generated functional variant calls; it always exists."""
    sibling = group.inplace or group.mutable
    if sibling is not None and "generated" not in sibling.tags:
        return sibling
    assert group.out.func.kind() is SchemaKind.out
    return group.out


def collect_backend_kernels(
    backend: ExternalBackend | None,
    spell: Speller,
    keeps: Callable[[NativeFunction], bool],
    header: Callable[[str], str],
) -> KernelSet:
    """Return the classes of `backend`; `header` returns the path of an operator's header in the extended library."""
    if backend is None:
        return KernelSet((), (), ())
    metas, structured = [], []
    namespace, key = f"{backend.cpp_namespace}::meta", backend.forward.key
    for one in backend.structured:
        kept = any(keeps(f) for f in one.group.functions())
        own = Kernel(one.name, backend.cpp_namespace, structured=True)
        made = structured_kernel(one.group, key, own, spell, kept)
        root = one.group.root_name
        match one.route:
            case StructuredRoute.own_impl:
                declared = header(f"ops/{root}_meta.h")
                made = replace(made, meta_header=declared, says_outputs=True)
            case StructuredRoute.own_meta_and_impl:
                meta = meta_class_of(one.group, spell, kept)
                metas.append(replace(meta, namespace=namespace, qualifier=f"{namespace}::"))
                made = replace(made, meta=f"{namespace}::{meta.struct}")
            case StructuredRoute.installed:
                assert one.installed is not None
                theirs = kernel_namespace(one.group.primary.namespace, one.installed.namespace)
                made = replace(
                    made,
                    meta=f"{theirs}::structured_{one.installed.name}",
                    meta_header=header(f"ops/{root}_native.h"),
                    says_outputs=True,
                    is_installed=True,
                )
        structured.append(made)
    return KernelSet(tuple(metas), tuple(structured), ())


# The source of the module of a library that has one.
MODULE_SOURCE = "python/module.cpp"


class Library(Struct, frozen=True):
    """The generated library: its name, the library that it extends, and its number of shards.

    A library that is `backend_only` has the kernels of an external backend for the operators of the
    library that it extends. `python` is whether it is also a Python package, and `extends_python` whether the extended
    library is one. `extended_tensor` is the extended library's class Tensor, if it has one. `torch` is the oldest release of PyTorch that the library works with, if it works with several.
    `frameworks` are others that call the operators of its package.
    """

    name: str
    extends: str | None = None
    shards: int = 1
    backend_only: bool = False
    python: bool = False
    extends_python: bool = False
    extended_tensor: str = ""
    torch: str = ""
    frameworks: tuple[str, ...] = ()

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
        return Speller(self.target, self.signatures, self.own_tensor)

    @property
    def tensor_header(self) -> str:
        """The header that declares the types of signatures."""
        if not self.target.cpp.base_tensor:
            return "opgen/tensor.h"
        backend_only = self.library.backend_only
        return f"{self.library.extends if backend_only else self.library.name}/TensorBody.h"

    @property
    def types(self) -> str:
        """The namespace of the types of signatures."""
        return f"{self.own_tensor.rpartition('::')[0] or 'opgen'}::types"

    @cached_property
    def own_tensor(self) -> str:
        """The class Tensor of the library, or of the one that it extends, with operators as methods or C++ operators;
        empty if it has none."""
        if not self.target.cpp.base_tensor or self.library.backend_only:
            return ""
        if self.library.extends is not None:
            return self.library.extended_tensor
        if any(Variant.method in f.variants or cpp_operator(f) for f in self.registry.functions):
            return f"{operator_namespace(self.library.name)}::Tensor"
        return ""

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
        return () if self.library.backend_only else tuple(collect_composite_kernels(self.registry))


def type_headers(context: Context, functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """Return the headers that declare the types in the schemas, including custom classes, with their quotes or angle brackets."""
    functions = [f for f in functions if f.is_library]
    signatures = map(context.signatures.dispatcher, functions)
    types = [type for s in signatures for type in (s.returns, *(b.type for b in s.arguments))]
    used = {name for type in types for name in base_names(type)}
    headers = [h for name, h in context.target.cpp.type_headers.items() if name in used]
    headers += (one.cpp.header for one in _classes(functions) if one.cpp is not None)
    return tuple(unique(headers))


def class_definitions(functions: Iterable[NativeFunction]) -> tuple[tuple[str, str], ...]:
    """Return the functions that register the classes of the schemas, unless they are registered elsewhere, after the
    namespace of each class in PyTorch's registry.

    Every source that registers schemas or kernels with a class requests the registration of the class first: PyTorch
    infers types from kernels, and the order in which sources are initialised is unknown.
    """
    return tuple(
        unique(
            (one.class_name.partition(".")[0], one.cpp.define)
            for one in _classes(functions)
            if one.cpp is not None and one.cpp.define is not None
        )
    )


def _classes(functions: Iterable[NativeFunction]) -> Iterator[CustomClassType]:
    for f in functions:
        if f.is_library:
            for type in (
                *(a.type for a in f.func.arguments.flat_all),
                *(r.type for r in f.func.returns),
            ):
                yield from custom_classes(type)
