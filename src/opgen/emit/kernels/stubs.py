"""Stubs (<Key>Stubs.cpp), which run in place of missing kernels, and skeletons, from which an author starts to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from opgen.autograd.derivative import AuthorFunction
from opgen.cpp.names import kernel_namespace
from opgen.emit.common.base import (
    GeneratedFile,
    Item,
    Record,
    blocks,
    cpp_string,
    generated,
    group_by,
    sharded,
)
from opgen.emit.common.context import Context
from opgen.emit.common.kernel_set import AuthorKernel, StructuredKernel
from opgen.emit.kernels.headers import Ufunc, backend_members, collect_ufuncs
from opgen.model.cpp_words import cpp_identifier
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import TENSOR
from opgen.model.profile import operator_namespace


def build_formula_stubs(context: Context) -> Iterator[GeneratedFile]:
    """Build stubs/FormulaStubs.cpp: a weak definition of each function that authors' headers declare for formulas."""
    functions = kept_functions(context)
    if functions:
        stem = "FormulaStubs"
        yield generated(
            path=f"stubs/{stem}.cpp",
            template="FormulaStubs.cpp.j2",
            library=context.library.name,
            stem=stem,
            tensor_header=context.tensor_header,
            includes=context.formula_files.includes,
            blocks=tuple(
                Item(
                    namespace=block.namespace,
                    items=block.items,
                    # Those under a condition are not in the report of stubs.
                    listed=tuple(stub for stub in block.items if not stub.condition),
                )
                for block in blocks((f.namespace, _formula_stub(f)) for f in functions)
            ),
        )


def kept_functions(context: Context) -> tuple[AuthorFunction, ...]:
    """Return the functions that the formulas of the selected operators call."""
    kept = {f.full_name for f in context.registry.functions if context.keeps(f)}
    return tuple(f for f in context.formula_files.functions if f.operator in kept)


def place_of(function: AuthorFunction) -> str:
    """Return `derivatives.yaml:12:9`: the place of the call."""
    span = function.place
    location = span.source.location(span.start)
    return f"{span.source.path}:{location.line}:{location.column}"


def purpose(function: AuthorFunction) -> str:
    """Return `For the gradient of self of mylib::scale`."""
    what = "tangent" if function.is_forward else "gradient"
    return f"For the {what} of {function.of} of {function.operator}"


def _formula_stub(function: AuthorFunction) -> Item:
    body, conditions = f"{function.declaration} {{ ... }}", function.conditions
    text = f"namespace {function.namespace} {{ {body} }}" if function.namespace else body
    types = ", ".join(function.types)
    return Item(
        comment=purpose(function),
        returns=function.returns,
        name=function.name,
        types=types,
        pointer=f"{function.returns} (*)({types})",
        function=cpp_string(function.full_name),
        operator=cpp_string(function.operator),
        to_write=cpp_string(text),
        condition=(
            conditions[0]
            if len(conditions) == 1
            else " && ".join(f"({condition})" for condition in conditions)
        ),
    )


def build_stubs(context: Context) -> Iterator[GeneratedFile]:
    """Build stubs/<Key>Stubs[_n].cpp: a weak definition of every function that an author may write."""
    kept = (m for m in missing_functions(context) if m.kept)
    for key, functions in group_by(kept, lambda m: m.key).items():
        stem, count = f"{key.name}Stubs", context.library.shards
        for name, members in sharded(stem, functions, lambda m: m.root, count):
            yield generated(
                path=f"stubs/{name}.cpp",
                template="KeyStubs.cpp.j2",
                library=context.library.name,
                types=context.types,
                stem=name,
                key=key.name,
                includes=tuple(sorted({context.library.header(m.header) for m in members})),
                blocks=blocks((m.namespace, _stub(m)) for m in members),
            )


def build_skeletons(context: Context, operators: frozenset[str]) -> GeneratedFile:
    """Return a source with an empty body for every function of the groups of `operators` and of their formulas."""
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
    own = {f.full_name for f in context.registry.functions if f.root_name in roots}
    called = [fn for fn in context.formula_files.functions if fn.operator in own]
    return generated(
        path="",
        template="skeletons.cpp.j2",
        includes=tuple(sorted({context.library.header(m.header) for m in wanted})),
        author_includes=context.formula_files.includes if called else (),
        functions=tuple(
            Item(
                missing=m,
                reason=skeleton_reason(m),
                notes=tuple(_notes(context, m)),
                returned=_returned(m),
            )
            for m in wanted
        ),
        formula_functions=tuple(
            Item(
                comment=f"{purpose(function)} ({place_of(function)})",
                namespace=function.namespace,
                declaration=function.declaration,
                error=cpp_string(f"{function.full_name} is not written yet"),
            )
            for function in called
        ),
    )


def _returned(m: AuthorKernel) -> str:
    """Return the arguments that the kernel writes and returns, as an expression; empty if it returns anything else."""
    func = m.f.func
    if m.signature.returns in ("void", "meta_return_ty"):
        return ""
    written = {
        str(a.annotation): cpp_identifier(a.name)
        for a in func.arguments.flat_all
        if a.annotation is not None and a.annotation.is_write
    }
    names = [written.get(str(r.annotation), "") for r in func.returns]
    if not all(names):
        return ""
    text = ", ".join(names)
    return text if len(names) == 1 else f"std::forward_as_tuple({text})"


def skeleton_reason(m: AuthorKernel) -> str:
    """Return what a call of the empty body reports, by which an empty body is recognised."""
    return f"{m.operator} has no {m.key.name} kernel yet; opgen stub wrote its empty body"


def _notes(context: Context, m: AuthorKernel) -> Iterator[str]:
    """Yield comments about the form of a Meta kernel for symbolic sizes, if the target has these."""
    func, kernel = m.f.func, m.f.find_kernel(m.key)
    if m.key is not DispatchKey.Meta or not context.target.dispatch.functionalizes:
        return
    if kernel is None or kernel.structured:
        return
    yield "It computes only sizes and types. While a program is traced, sizes are symbols: call"
    yield "sym_size(dim), sym_sizes() or sym_numel(), and compute with c10::SymInt."
    if func.has_symint() and not kernel.supports_symint:
        yield f"Name it '{kernel.name}_symint' in the YAML; then SymInt arguments are symbols, too."
    like = next((a.name for a in func.arguments.flat_all if a.type == TENSOR), None)
    if like is not None and func.returns and all(r.type == TENSOR for r in func.returns):
        like = cpp_identifier(like)
        one = f"opgen::empty_symint({like}.sym_sizes(), {like}.options())"
        count = len(func.returns)
        made = one if count == 1 else f"{{{', '.join([one] * count)}}}"
        yield f"For results like '{like}':"
        yield f"  return {made};"


def missing_functions(context: Context) -> tuple[AuthorKernel, ...]:
    """Return every function an author may write: metas, structured kernels, then the others."""
    # Namespace, name and parameter types identify a C++ function.
    written_by_opgen = set()
    for f, kernel in ((one.function, one.kernel) for one in context.composite_kernels):
        native = context.signatures.native(f, symint=kernel.supports_symint)
        namespace = kernel_namespace(f.namespace, kernel.namespace)
        written_by_opgen.add((namespace, kernel.name, context.spell.spelled(native).types))
    loops = {u.kernel.struct: u for u in collect_ufuncs(context) if u.kernel is not None}
    return (
        *context.kernels.metas,
        *(_with_loop(k, loops) for k in context.kernels.structured if not k.is_installed),
        *(
            call
            for unstructured in context.kernels.kernels
            for call in unstructured.calls
            if (call.namespace, call.name, call.signature.types) not in written_by_opgen
        ),
        *backend_members(context),
    )


def _with_loop(kernel: StructuredKernel, loops: Mapping[str, Ufunc]) -> AuthorKernel:
    """Return `kernel`, or the loop that an author writes in its place."""
    loop = loops.get(kernel.struct)
    if loop is None:
        return kernel
    signature = replace(kernel.signature, parameters=loop.named_parameters)
    return replace(kernel, name=loop.name, macro=f"OPGEN_UFUNC({loop.name})", signature=signature)


class KnownDefinition(Record, frozen=True):
    """The text before the parameters of a definition, such as `OPGEN_IMPL_FUNC(add_out_cpu)`, and its headers.

    `header` declares it, and each of `headers` includes that one or is it; all as an author includes them.
    """

    text: str
    header: str
    headers: tuple[str, ...]


def known_definitions(context: Context) -> Iterator[KnownDefinition]:
    """Yield each definition that the library's headers declare.

    Some of the kernels are not to be written: opgen generates them, or another library has them.
    """
    for meta in context.kernels.metas:
        yield _known(context, meta.macro, (meta.root,), "meta")
    for structured in context.kernels.structured:
        yield _known(context, structured.macro, (structured.root,))
    for kernel in context.kernels.kernels:
        for call in kernel.calls:
            yield _known(context, call.macro, kernel.roots)
    for loop in collect_ufuncs(context):
        yield _known(context, f"OPGEN_UFUNC({loop.name})", (loop.root,))


def _known(
    context: Context, text: str, roots: tuple[str, ...], kind: str = "native"
) -> KnownDefinition:
    own = [f"ops/{roots[0]}_{kind}.h"]
    umbrellas = ["NativeFunctions.h"] + ["NativeMetaFunctions.h"] * (kind == "meta")
    names = (*own, *(f"ops/{root}_native.h" for root in roots), *umbrellas)
    headers = tuple(dict.fromkeys(map(context.library.header, names)))
    return KnownDefinition(text, headers[0], headers)


def _stub(m: AuthorKernel) -> Item:
    """Return the stub of a function. `row` is the name of the constant with the texts of its error."""
    # Operators of two namespaces may have kernels in one C++ namespace, and one translation unit may hold the stubs
    # of several keys.
    own = operator_namespace(m.f.namespace)
    of = "" if m.namespace.startswith(f"{own}::") else f"{m.f.namespace}_"
    row = f"opgen_missing_{m.key.name}_{of}{m.f.func.name.unambiguous_name}"
    function = f"&{m.namespace}::{m.function}"
    if m.overload or m.within:
        function = f"static_cast<{m.signature.pointer_type}>({function})"
    functions, returns = [m.function], m.signature.returns
    if m.symbolic:
        functions.append(f"{m.symbolic}::meta")
    is_member = returns == "meta_return_ty"
    return Item(
        row=row,
        missing=m,
        to_write=cpp_string(m.to_write),
        element=f"opgen::kernel_stub({m.namespace}::{row}, {function}),",
        functions=tuple(
            (f"{one.removesuffix('meta')}{returns}" if is_member else returns, one)
            for one in functions
        ),
    )
