"""Every function that an author may write, collected once: meta functions, structured and other kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from opgen.cpp import structured
from opgen.cpp.names import kernel_namespace, meta_namespace
from opgen.cpp.signatures import Binding
from opgen.cpp.spelling import TypeSpelling
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import Registry, StructuredGroup
from opgen.views.base import group_by, view
from opgen.views.text import SpelledSignature, Speller

# An operator with a key that it names the kernel for.
Row: TypeAlias = tuple[DispatchKey, NativeFunction]

_NAMESPACES = frozenset({"std", "opgen", "at", "native", "meta"})


@view
class CallView:
    """One C++ overload of an unstructured kernel, with the first operator and key it is for.

    One that is not `kept` is of no operator in a selective build: it is inline, so that its body is
    checked and no code made of it.
    """

    schema: str
    operator: str
    overload: str
    key: DispatchKey
    returns: str
    parameters: str
    types: str
    kept: bool


@view
class AliasView:
    name: str
    type: str


@view
class KernelView:
    """An unstructured kernel: a struct whose static members `call` an author defines.

    A kernel shared by operators of several roots is declared in the header of the first of `roots`
    (sorted) and included by those of the others. `qualifier` stands before its struct in the macro that
    defines it; where kernels of two namespaces share a name, nothing does: the namespace that it is
    defined in tells.
    """

    namespace: str
    name: str
    qualifier: str
    roots: tuple[str, ...]
    calls: tuple[CallView, ...]

    @property
    def struct(self) -> str:
        return f"opgen_{self.name}"

    @property
    def is_reserved(self) -> bool:
        """Whether the plain name is declared as a template, so that a free function written in place
        of the kernel does not compile. (An alias would do it, too, but -Wshadow counts it against
        parameters of that name.) Not where kernel code needs the namespace of that name."""
        return self.name not in _NAMESPACES

    @property
    def returns(self) -> tuple[AliasView, ...]:
        """`ret`, or one `ret_<overload>` each where the overloads return different types."""
        if len({call.returns for call in self.calls}) == 1:
            return (AliasView("ret", self.calls[0].returns),)
        return tuple(AliasView(f"ret_{call.overload}", call.returns) for call in self.calls)

    def macro(self, call: CallView) -> str:
        """What an author writes in front of the parameter list."""
        if len(self.returns) == 1:
            return f"OPGEN_KERNEL({self.name})"
        return f"OPGEN_KERNEL2({self.name}, {call.overload})"


@view
class StructuredKernelView:
    """A structured kernel: a class that derives from its meta class and has one member `impl`.

    With precomputed values, `opgen_impl` takes them and all arguments, and hands on what impl wants.
    `meta_header` declares the meta class; empty: it is of the library's own ops/<root>_meta.h. Of a
    meta class that another generator made, the number of outputs is said here (`says_outputs`). One
    that `is_installed` derives from another library's kernel instead, and has nothing to write.
    """

    root: str
    namespace: str
    qualifier: str
    schema: str
    operator: str
    key: DispatchKey
    name: str
    struct: str
    meta: str
    parameters: str
    types: str
    precomputed: bool
    forward_parameters: str
    forward_arguments: str
    kept: bool
    outputs: int
    meta_header: str = ""
    says_outputs: bool = False
    is_installed: bool = False


@view
class PrecomputedView:
    """One value that meta hands to impl, with the flags of the struct once it is set."""

    name: str
    type: str
    flag: str
    flags_after: str
    others: tuple[str, ...]


@view
class MetaView:
    """A structured group's meta class with its one member `meta`.

    With a `sized_base`, the body that an author writes is a member of the class template `sized`; the
    class itself and `symbolic` derive from it, for known and for symbolic sizes, and their `meta`
    calls it with `names`.
    """

    root: str
    namespace: str
    qualifier: str
    schema: str
    operator: str
    macro: str
    struct: str
    base: str
    sized_base: str
    sized: str
    symbolic: str
    outputs: int
    returns: str
    parameters: str
    names: str
    types: str
    precomputed: tuple[PrecomputedView, ...]
    precompute_flags: str
    precompute_all: str
    to_write: str
    kept: bool


@view
class KernelSet:
    """All of them, each in the order of the YAML; `kernels` without those that opgen writes."""

    metas: tuple[MetaView, ...]
    structured: tuple[StructuredKernelView, ...]
    kernels: tuple[KernelView, ...]


def collect_kernels(
    registry: Registry, spell: Speller, keeps: Callable[[NativeFunction], bool]
) -> KernelSet:
    """The functions to be written for all operators of `registry`, of which `keeps` tells those in use."""
    groups = [
        (group, any(keeps(f) for f in group.functions())) for group in registry.structured_groups()
    ]
    shared = _of_two(
        (kernel.name, kernel_namespace(f.namespace, kernel.namespace))
        for f in registry.functions
        for _, kernel in f.dispatch
    )
    shared_metas = _of_two(
        (meta_macro_name(group), group.functional.namespace)
        for group in registry.structured_groups()
    )
    return KernelSet(
        metas=tuple(meta_view(group, spell, kept, shared_metas) for group, kept in groups),
        structured=tuple(
            k for group, kept in groups for k in _structured(group, spell, kept, shared)
        ),
        kernels=tuple(_kernels(registry.functions, spell, keeps, shared)),
    )


def _of_two(names: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The names that stand in two namespaces or more, of pairs of name and namespace."""
    counts = Counter(name for name, _ in set(names))
    return frozenset(name for name, count in counts.items() if count > 1)


def structured_kernels(
    group: StructuredGroup,
) -> Iterator[tuple[DispatchKey, Kernel]]:
    """The structured kernels of a group, by key."""
    return ((key, kernel) for key, kernel in group.primary.dispatch if kernel.structured)


def meta_class(group: StructuredGroup) -> str:
    """`at::meta::structured_add_Tensor`."""
    return f"{meta_namespace(group.functional.namespace)}::{structured.struct_name(group)}"


def _kernels(
    functions: Iterable[NativeFunction],
    spell: Speller,
    keeps: Callable[[NativeFunction], bool],
    shared: Collection[str],
) -> Iterator[KernelView]:
    uses = (
        (kernel_namespace(f.namespace, kernel.namespace), kernel.name, key, f)
        for f in functions
        for key, kernel in f.dispatch
        if kernel.is_declared
    )
    for (namespace, name), found in group_by(uses, lambda use: use[:2]).items():
        rows = [(key, f) for *_, key, f in found]
        by_overload = _by_overload(rows, name, spell)
        overloads = _overloads([members[0][1] for members in by_overload])
        yield KernelView(
            namespace=namespace,
            name=name,
            qualifier="" if name in shared else f"{namespace}::",
            roots=tuple(sorted({f.root_name for _, f in rows})),
            calls=tuple(
                _call(members, name, overload, spell, any(keeps(f) for _, f in members))
                for members, overload in zip(by_overload, overloads)
            ),
        )


def _by_overload(rows: Sequence[Row], kernel: str, spell: Speller) -> tuple[list[Row], ...]:
    """The rows for each list of C++ parameter types: those that share it share a function."""
    by_types = group_by(rows, lambda row: _native(row[1], kernel, spell).types)
    return tuple(by_types.values())


def _call(rows: Sequence[Row], kernel: str, overload: str, spell: Speller, kept: bool) -> CallView:
    """The function that all of `rows` share, described by the first."""
    key, f = rows[0]
    native = _native(f, kernel, spell)
    return CallView(
        schema=spell.schema(f),
        operator=f.full_name,
        overload=overload,
        key=key,
        returns=native.returns,
        parameters=native.parameters,
        types=native.types,
        kept=kept,
    )


def _native(f: NativeFunction, kernel: str, spell: Speller) -> SpelledSignature:
    return spell.spelled(spell.signatures.native(f, symint="_symint" in kernel))


def _overloads(functions: list[NativeFunction]) -> list[str]:
    """A name for each operator that shares a kernel: its overload, if that tells them apart."""
    overloads = [f.func.name.overload_name or "default" for f in functions]
    if len(set(overloads)) == len(overloads):
        return overloads
    return [f.func.name.unambiguous_name() for f in functions]


def _structured(
    group: StructuredGroup, spell: Speller, kept: bool, shared: Collection[str]
) -> Iterator[StructuredKernelView]:
    for key, kernel in unique_by_name(structured_kernels(group)):
        yield structured_kernel_view(group, key, kernel, spell, kept, shared)


def structured_kernel_view(
    group: StructuredGroup,
    key: DispatchKey,
    kernel: Kernel,
    spell: Speller,
    kept: bool,
    shared: Collection[str] = (),
) -> StructuredKernelView:
    """The class of a kernel that serves all members of `group`; `shared` are names that two namespaces have."""
    namespace = kernel_namespace(group.primary.namespace, kernel.namespace)
    arguments = structured.impl_arguments(group)
    names, unnamed = _forwarding(group)
    given = (*structured.meta_arguments(group), *structured.out_arguments(group))
    return StructuredKernelView(
        root=group.root_name,
        namespace=namespace,
        qualifier="" if kernel.name in shared else f"{namespace}::",
        schema=spell.schema(group.primary),
        operator=group.primary.full_name,
        key=key,
        name=kernel.name,
        struct=f"structured_{kernel.name}",
        meta=meta_class(group),
        parameters=spell.parameters(arguments, defaults=False),
        types=spell.types(arguments),
        precomputed=group.primary.precomputed is not None,
        forward_parameters=", ".join(
            spell.type(b.type) if b.name in unnamed else spell.parameters([b], defaults=False)
            for b in given
        ),
        forward_arguments=", ".join(names),
        kept=kept,
        outputs=len(group.functional.func.returns),
    )


def unique_by_name(
    kernels: Iterable[tuple[DispatchKey, Kernel]],
) -> Iterator[tuple[DispatchKey, Kernel]]:
    """The first row of each kernel: one class serves all keys that name it."""
    seen: set[str] = set()
    for key, kernel in kernels:
        if kernel.name not in seen:
            seen.add(kernel.name)
            yield key, kernel


def _forwarding(group: StructuredGroup) -> tuple[tuple[str, ...], frozenset[str]]:
    """What `opgen_impl` hands to impl, and which of its own parameters it therefore leaves unnamed."""
    precomputed = {a.name for a in structured.precomputed_elements(group)}
    outs = {b.name for b in structured.out_arguments(group)}
    names = [
        f"opgen_precomputed.{b.name}" if b.name in precomputed and b.name not in outs else b.name
        for b in structured.impl_arguments(group)
    ]
    given = {b.name for b in structured.meta_arguments(group)}
    return tuple(names), frozenset(given - set(names))


def meta_view(
    group: StructuredGroup, spell: Speller, kept: bool, shared: Collection[str] = ()
) -> MetaView:
    """The meta class of `group`; `shared` are names that two namespaces have."""
    namespace = meta_namespace(group.functional.namespace)
    base = group.primary.structured_inherits or spell.target.meta_base
    sized_base = spell.target.sized_bases.get(base, "")
    is_sized = bool(sized_base)
    spelling = spell.target.meta_spelling if is_sized else None
    arguments = structured.meta_arguments(group, symint=is_sized)
    parameters = spell.parameters(arguments, defaults=False, spelling=spelling)
    elements = structured.precomputed_elements(group, symint=is_sized)
    macro = meta_macro_name(group)
    struct = structured.struct_name(group)
    return MetaView(
        root=group.root_name,
        namespace=namespace,
        qualifier="" if macro in shared else f"{namespace}::",
        schema=spell.schema(group.functional),
        operator=group.functional.full_name,
        macro=macro,
        struct=struct,
        base=base,
        sized_base=sized_base,
        sized=f"opgen_meta_{struct.removeprefix('structured_')}" if is_sized else "",
        symbolic=f"opgen_symbolic_{struct.removeprefix('structured_')}" if is_sized else "",
        outputs=len(group.functional.func.returns),
        returns="void" if group.primary.precomputed is None else "meta_return_ty",
        parameters=parameters,
        names=", ".join(b.name for b in arguments),
        types=spell.types(arguments, spelling=spelling),
        precomputed=_precomputed(elements, spell, spelling),
        precompute_flags=", ".join(f"bool {b.name.upper()} = false" for b in elements),
        precompute_all=", ".join("true" for _ in elements),
        to_write=f"{_meta_macro(group)}({parameters})",
        kept=kept,
    )


def meta_macro_name(group: StructuredGroup) -> str:
    """What the macro that defines its meta function is called after."""
    return group.functional.func.name.unambiguous_name()


def _meta_macro(group: StructuredGroup) -> str:
    name = group.functional.func.name
    prefix = "OPGEN_PRECOMPUTE_META_FUNC" if group.primary.precomputed else "OPGEN_META_FUNC"
    if name.overload_name:
        return f"{prefix}2({name.name}, {name.overload_name})"
    return f"{prefix}({name.name})"


def _precomputed(
    elements: Sequence[Binding], spell: Speller, spelling: TypeSpelling | None
) -> tuple[PrecomputedView, ...]:
    names = [element.name for element in elements]
    return tuple(
        PrecomputedView(
            name=element.name,
            type=spell.type(element.type, spelling=spelling),
            flag=element.name.upper(),
            flags_after=", ".join("true" if n == element.name else n.upper() for n in names),
            others=tuple(n for n in names if n != element.name),
        )
        for element in elements
    )
