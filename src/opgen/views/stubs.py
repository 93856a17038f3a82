"""Stubs (<Key>Stubs.cpp) and skeletons: what runs, and what to write, where a kernel is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opgen.cpp.names import kernel_namespace
from opgen.model.cpp_identifier import cpp_identifier
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import TENSOR
from opgen.views.backend import MemberView, backend_members
from opgen.views.base import Block, FileView, blocks, cpp_string, group_by, view
from opgen.views.composite_set import CompositeKernel
from opgen.views.context import Context
from opgen.views.kernel_set import CallView, KernelView, MetaView, StructuredKernelView
from opgen.views.shards import sharded
from opgen.views.ufuncs import UfuncView, ufunc_views


@view
class MissingFunction:
    """One function that an author writes: for which key, how it is declared, what to write."""

    key: DispatchKey
    root: str
    namespace: str
    schema: str
    operator: str
    returns: str
    function: str
    types: str
    pointer: str
    to_write: str
    header: str
    kept: bool
    # The namespace to write it in; empty if it does not matter.
    within: str = ""
    # The same function of the class for symbolic sizes, as `returns` and `function`; or empty.
    symbolic_returns: str = ""
    symbolic: str = ""


@view
class StubView:
    schema: str
    operator: str
    returns: str
    function: str
    types: str
    pointer: str
    to_write: str
    symbolic_returns: str
    symbolic: str


@view
class StubsView(FileView):
    library: str
    stem: str
    key: str
    includes: tuple[str, ...]
    blocks: tuple[Block[StubView], ...]


@view
class SkeletonView:
    schema: str
    operator: str
    key: str
    to_write: str
    within: str
    # What to know before writing it, a comment line each.
    notes: tuple[str, ...]


@view
class SkeletonsView(FileView):
    includes: tuple[str, ...]
    functions: tuple[SkeletonView, ...]


def build_stubs(context: Context) -> Iterator[FileView]:
    """stubs/<Key>Stubs[_n].cpp: a weak definition of every function that an author may write."""
    kept = (m for m in missing_functions(context) if m.kept)
    for key, functions in group_by(kept, lambda m: m.key).items():
        stem, count = f"{key.name}Stubs", context.library.shards
        for name, members in sharded(stem, functions, lambda m: m.root, count):
            yield StubsView(
                path=f"stubs/{name}.cpp",
                template="KeyStubs.cpp.j2",
                library=context.library.name,
                stem=name,
                key=key.name,
                includes=tuple(sorted({context.library.header(m.header) for m in members})),
                blocks=blocks((m.namespace, _stub(m)) for m in members),
            )


def build_skeletons(context: Context, operators: frozenset[str]) -> FileView:
    """A kernel source with an empty body for every function of the groups of `operators`."""
    roots = {f.root_name for f in context.registry.functions if f.full_name in operators}
    groups = {
        member.full_name
        for f in context.registry.functions
        if f.full_name in operators
        and (group := context.registry.structured_group_of(f) or context.registry.group_of(f))
        for member in group.functions()
    }
    wanted = [
        m
        for m in missing_functions(context)
        if m.root in roots and (m.operator in operators or m.operator in groups)
    ]
    return SkeletonsView(
        path="",
        template="skeletons.cpp.j2",
        includes=tuple(sorted({context.library.header(m.header) for m in wanted})),
        functions=tuple(
            SkeletonView(m.schema, m.operator, m.key.name, m.to_write, m.within, _notes(context, m))
            for m in wanted
        ),
    )


def _notes(context: Context, m: MissingFunction) -> tuple[str, ...]:
    """How a Meta kernel is written for sizes that may be symbols, where the world has them."""
    f = context.registry.find_function(m.operator)
    if m.key is not DispatchKey.Meta or f is None or not context.target.functionalizes:
        return ()
    kernel = f.find_kernel(m.key)
    if kernel is None or kernel.structured:
        return ()
    notes = [
        "It computes sizes and types alone. While a program is traced, sizes are symbols: ask for",
        "sym_size(dim), sym_sizes() or sym_numel(), and compute with c10::SymInt.",
    ]
    if f.func.has_symint() and not kernel.supports_symint:
        notes.append(
            f"Call it '{kernel.name}_symint' in the YAML: then SymInt arguments are symbols, too."
        )
    like = next((a.name for a in f.func.arguments.flat_all if a.type == TENSOR), None)
    if like is not None and f.func.returns and all(r.type == TENSOR for r in f.func.returns):
        like = cpp_identifier(like)
        one = f"opgen::empty_symint({like}.sym_sizes(), {like}.options())"
        count = len(f.func.returns)
        made = one if count == 1 else f"{{{', '.join([one] * count)}}}"
        notes += (f"For results like '{like}':", f"  return {made};")
    return tuple(notes)


def missing_functions(context: Context) -> tuple[MissingFunction, ...]:
    """Every function an author may write: metas, structured kernels, then the others."""
    written_by_opgen = {_overload(context, kernel) for kernel in context.composite_kernels}
    loops = {u.impl.struct: u for u in ufunc_views(context) if u.impl is not None}
    return (
        *(_missing_meta(meta) for meta in context.kernels.metas),
        *(
            _missing_impl(kernel, loops)
            for kernel in context.kernels.structured
            if not kernel.is_installed
        ),
        *(
            _missing_call(kernel, call)
            for kernel in context.kernels.kernels
            for call in kernel.calls
            if (kernel.namespace, kernel.name, call.types) not in written_by_opgen
        ),
        *_missing_members(context),
    )


def _overload(context: Context, composite: CompositeKernel) -> tuple[str, str, str]:
    """Namespace, name and parameter types of a kernel that opgen writes: one C++ function."""
    f, kernel = composite.function, composite.kernel
    native = context.signatures.native(f, symint=kernel.supports_symint)
    namespace = kernel_namespace(f.namespace, kernel.namespace)
    return namespace, kernel.name, context.spell.spelled(native).types


def _missing_meta(meta: MetaView) -> MissingFunction:
    struct = f"{meta.namespace}::{meta.struct}"
    returns = f"{meta.struct}::meta_return_ty" if meta.precomputed else "void"
    qualified = f"{struct}::meta_return_ty" if meta.precomputed else "void"
    return MissingFunction(
        key=DispatchKey.Meta,
        root=meta.root,
        namespace=meta.namespace,
        schema=meta.schema,
        operator=meta.operator,
        returns=returns,
        function=f"{meta.struct}::meta",
        types=meta.types,
        pointer=f"{qualified} ({struct}::*)({meta.types})",
        to_write=meta.to_write,
        header=f"ops/{meta.root}_meta.h",
        kept=meta.kept,
        symbolic_returns=f"{meta.symbolic}::meta_return_ty" if meta.precomputed else "void",
        symbolic=f"{meta.symbolic}::meta" if meta.symbolic else "",
    )


def _missing_impl(kernel: StructuredKernelView, loops: Mapping[str, UfuncView]) -> MissingFunction:
    loop = loops.get(kernel.struct)
    return MissingFunction(
        key=kernel.key,
        root=kernel.root,
        namespace=kernel.namespace,
        schema=kernel.schema,
        operator=kernel.operator,
        returns="void",
        function=f"{kernel.struct}::impl",
        types=kernel.types,
        pointer=f"void ({kernel.namespace}::{kernel.struct}::*)({kernel.types})",
        to_write=(
            f"OPGEN_IMPL_FUNC({kernel.name})({kernel.parameters})"
            if loop is None
            else f"OPGEN_UFUNC({loop.name})({loop.named_parameters})"
        ),
        header=f"ops/{kernel.root}_native.h",
        kept=kernel.kept,
    )


def _missing_call(kernel: KernelView, call: CallView) -> MissingFunction:
    return MissingFunction(
        key=call.key,
        root=kernel.roots[0],
        namespace=kernel.namespace,
        schema=call.schema,
        operator=call.operator,
        returns=call.returns,
        function=f"{kernel.struct}::call",
        types=call.types,
        pointer=f"{call.returns} (*)({call.types})",
        to_write=f"{kernel.macro(call)}({call.parameters})",
        header=f"ops/{kernel.roots[0]}_native.h",
        kept=call.kept,
    )


def _missing_members(context: Context) -> tuple[MissingFunction, ...]:
    return tuple(_missing_member(context, member) for member in backend_members(context))


def _missing_member(context: Context, member: MemberView) -> MissingFunction:
    backend = context.backend
    assert backend is not None
    function = f"{backend.class_name}::{member.name}"
    return MissingFunction(
        key=member.key,
        root=member.root,
        namespace=backend.cpp_namespace,
        schema=member.schema,
        operator=member.operator,
        returns=member.returns,
        function=function,
        types=member.types,
        pointer=f"{member.returns} (*)({member.types})",
        to_write=f"{member.returns} {function}({member.parameters})",
        header=backend.header,
        kept=member.kept,
        within=backend.cpp_namespace,
    )


def _stub(m: MissingFunction) -> StubView:
    return StubView(
        schema=m.schema,
        operator=m.operator,
        returns=m.returns,
        function=m.function,
        types=m.types,
        pointer=m.pointer,
        to_write=cpp_string(m.to_write),
        symbolic_returns=m.symbolic_returns,
        symbolic=m.symbolic,
    )
