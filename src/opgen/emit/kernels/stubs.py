"""Stubs (<Key>Stubs.cpp), which run in place of missing kernels, and skeletons, from which an author starts to write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from opgen.autograd.derivative import AuthorFunction
from opgen.cpp.names import kernel_namespace
from opgen.emit.common.base import (
    GeneratedFile,
    Record,
    blocks,
    cpp_string,
    generated,
    group_by,
    sharded,
)
from opgen.emit.common.context import CompositeKernel, Context
from opgen.emit.common.kernel_set import (
    KernelOverload,
    MetaClass,
    StructuredKernel,
    UnstructuredKernel,
)
from opgen.emit.kernels.headers import Ufunc, backend_members, collect_ufuncs
from opgen.model.cpp_words import cpp_identifier
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import TENSOR
from opgen.model.profile import operator_namespace


class FormulaStub(Record, frozen=True):
    """A function, the operator whose formula calls it, and the text to write. `condition` is that of its declaration."""

    comment: str
    returns: str
    name: str
    types: str
    function: str
    operator: str
    to_write: str
    condition: str

    @property
    def pointer(self) -> str:
        return f"{self.returns} (*)({self.types})"


class FormulaStubs(Record, frozen=True):
    """The stubs of a C++ namespace. Those under a condition are not `listed` in the report of stubs."""

    namespace: str
    items: tuple[FormulaStub, ...]

    @property
    def listed(self) -> tuple[FormulaStub, ...]:
        return tuple(stub for stub in self.items if not stub.condition)


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
                FormulaStubs(namespace, tuple(map(_formula_stub, members)))
                for namespace, members in group_by(functions, lambda f: f.namespace).items()
            ),
        )


def kept_functions(context: Context) -> tuple[AuthorFunction, ...]:
    """Return the functions that the formulas of the selected operators call."""
    kept = {f.full_name for f in context.registry.functions if context.keeps(f)}
    return tuple(f for f in context.formula_files.functions if f.operator in kept)


class FormulaSkeleton(Record, frozen=True):
    """Return a function to write: its purpose and place as a comment, its declaration, and the text of its error."""

    comment: str
    namespace: str
    declaration: str
    error: str


def _formula_skeletons(context: Context, roots: Collection[str]) -> tuple[FormulaSkeleton, ...]:
    """Return the functions that the formulas of operators with these root names call."""
    operators = {f.full_name for f in context.registry.functions if f.root_name in roots}
    return tuple(
        FormulaSkeleton(
            comment=f"{purpose(function)} ({place_of(function)})",
            namespace=function.namespace,
            declaration=function.declaration,
            error=cpp_string(f"{function.full_name} is not written yet"),
        )
        for function in context.formula_files.functions
        if function.operator in operators
    )


def place_of(function: AuthorFunction) -> str:
    """Return `derivatives.yaml:12:9`: the place of the call."""
    span = function.place
    location = span.source.location(span.start)
    return f"{span.source.path}:{location.line}:{location.column}"


def purpose(function: AuthorFunction) -> str:
    """Return `For the gradient of self of mylib::scale`."""
    what = "tangent" if function.is_forward else "gradient"
    return f"For the {what} of {function.of} of {function.operator}"


def _text_to_write(function: AuthorFunction) -> str:
    """Return `namespace mylib { Tensor scale_backward(const Tensor& grad) { ... } }`."""
    body = f"{function.declaration} {{ ... }}"
    return f"namespace {function.namespace} {{ {body} }}" if function.namespace else body


def _formula_stub(function: AuthorFunction) -> FormulaStub:
    return FormulaStub(
        comment=purpose(function),
        returns=function.returns,
        name=function.name,
        types=", ".join(function.types),
        function=cpp_string(function.full_name),
        operator=cpp_string(function.operator),
        to_write=cpp_string(_text_to_write(function)),
        condition=_all_of(function.conditions),
    )


def _all_of(conditions: Sequence[str]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return " && ".join(f"({one})" for one in conditions)


class MissingFunction(Record, frozen=True):
    """One function that an author writes: its key, its declaration, the text to write.

    `name` is that of the kernel in the YAML; of a meta function, that of its operator.
    """

    name: str
    key: DispatchKey
    root: str
    namespace: str
    schema: str
    operator: str
    returns: str
    function: str
    types: str
    to_write: str
    header: str
    kept: bool
    # Its type, if the name is overloaded.
    pointer: str = ""
    # The namespace to write it in; empty if it does not matter.
    within: str = ""
    # The same function of the class for symbolic sizes, as `returns` and `function`; or empty.
    symbolic_returns: str = ""
    symbolic: str = ""


class Stub(Record, frozen=True):
    """The stub of a `missing` function. `row` is the name of the constant with the texts of its error."""

    row: str
    missing: MissingFunction

    @property
    def to_write(self) -> str:
        return cpp_string(self.missing.to_write)

    @property
    def element(self) -> str:
        """The row of the table of stubs; a cast selects one of several functions."""
        m = self.missing
        row, function = (f"{m.namespace}::{name}" for name in (self.row, m.function))
        given = f"static_cast<{m.pointer}>(&{function})" if m.pointer else f"&{function}"
        return f"opgen::kernel_stub({row}, {given}),"


class Skeleton(Record, frozen=True):
    missing: MissingFunction
    # What a call of the empty body reports.
    reason: str
    # Comment lines with the facts that the author of the kernel needs.
    notes: tuple[str, ...]
    # What the kernel returns, if that is arguments which it writes; or empty.
    returned: str


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
                blocks=blocks((m.namespace, _stub(context, m)) for m in members),
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
    of_formulas = _formula_skeletons(context, roots)
    return generated(
        path="",
        template="skeletons.cpp.j2",
        includes=tuple(sorted({context.library.header(m.header) for m in wanted})),
        author_includes=context.formula_files.includes if of_formulas else (),
        functions=tuple(
            Skeleton(m, skeleton_reason(m), _notes(context, m), _returned(context, m))
            for m in wanted
        ),
        formula_functions=of_formulas,
    )


def _returned(context: Context, m: MissingFunction) -> str:
    """Return the arguments that the kernel writes and returns, as an expression; empty if it returns anything else."""
    f = context.registry.find_function(m.operator)
    if f is None or m.returns == "void":
        return ""
    written = {
        str(a.annotation): cpp_identifier(a.name)
        for a in f.func.arguments.flat_all
        if a.annotation is not None and a.annotation.is_write
    }
    names = [written.get(str(r.annotation)) for r in f.func.returns]
    if not names or any(name is None for name in names):
        return ""
    text = ", ".join(name for name in names if name is not None)
    return text if len(names) == 1 else f"std::forward_as_tuple({text})"


def skeleton_reason(m: MissingFunction) -> str:
    """Return what a call of the empty body reports, by which an empty body is recognised."""
    return f"{m.operator} has no {m.key.name} kernel yet; opgen stub wrote its empty body"


def _notes(context: Context, m: MissingFunction) -> tuple[str, ...]:
    """Return the form of a Meta kernel for symbolic sizes, if the target has these."""
    f = context.registry.find_function(m.operator)
    if m.key is not DispatchKey.Meta or f is None or not context.target.dispatch.functionalizes:
        return ()
    kernel = f.find_kernel(m.key)
    if kernel is None or kernel.structured:
        return ()
    notes = [
        "It computes only sizes and types. While a program is traced, sizes are symbols: call",
        "sym_size(dim), sym_sizes() or sym_numel(), and compute with c10::SymInt.",
    ]
    if f.func.has_symint() and not kernel.supports_symint:
        notes.append(
            f"Name it '{kernel.name}_symint' in the YAML; then SymInt arguments are symbols, too."
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
    """Return every function an author may write: metas, structured kernels, then the others."""
    written_by_opgen = {_overload(context, kernel) for kernel in context.composite_kernels}
    loops = {u.impl.struct: u for u in collect_ufuncs(context) if u.impl is not None}
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
            if (kernel.namespace, kernel.name, call.signature.types) not in written_by_opgen
        ),
        *(_missing_member(context, member) for member in backend_members(context)),
    )


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
        text = meta.to_write[: meta.to_write.index(")") + 1]
        yield _known(context, text, (meta.root,), "meta")
    for structured in context.kernels.structured:
        yield _known(context, f"OPGEN_IMPL_FUNC({structured.name})", (structured.root,))
    for kernel in context.kernels.kernels:
        for call in kernel.calls:
            yield _known(context, kernel.macro(call), kernel.roots)
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


def _overload(context: Context, composite: CompositeKernel) -> tuple[str, str, str]:
    """Return the namespace, name and parameter types of a kernel that opgen generates; they identify a C++ function."""
    f, kernel = composite.function, composite.kernel
    native = context.signatures.native(f, symint=kernel.supports_symint)
    namespace = kernel_namespace(f.namespace, kernel.namespace)
    return namespace, kernel.name, context.spell.spelled(native).types


def _missing_meta(meta: MetaClass) -> MissingFunction:
    returns = f"{meta.struct}::meta_return_ty" if meta.precomputed else "void"
    return MissingFunction(
        name=meta.operator.rpartition("::")[2].removesuffix(".out"),
        key=DispatchKey.Meta,
        root=meta.root,
        namespace=meta.namespace,
        schema=meta.schema,
        operator=meta.operator,
        returns=returns,
        function=f"{meta.struct}::meta",
        types=meta.signature.types,
        to_write=meta.to_write,
        header=f"ops/{meta.root}_meta.h",
        kept=meta.kept,
        symbolic_returns=f"{meta.symbolic}::meta_return_ty" if meta.precomputed else "void",
        symbolic=f"{meta.symbolic}::meta" if meta.symbolic else "",
    )


def _missing_impl(kernel: StructuredKernel, loops: Mapping[str, Ufunc]) -> MissingFunction:
    loop = loops.get(kernel.struct)
    return MissingFunction(
        name=kernel.name if loop is None else loop.name,
        key=kernel.key,
        root=kernel.root,
        namespace=kernel.namespace,
        schema=kernel.schema,
        operator=kernel.operator,
        returns="void",
        function=f"{kernel.struct}::impl",
        types=kernel.signature.types,
        to_write=(
            f"OPGEN_IMPL_FUNC({kernel.name})({kernel.signature.parameters})"
            if loop is None
            else f"OPGEN_UFUNC({loop.name})({loop.named_parameters})"
        ),
        header=f"ops/{kernel.root}_native.h",
        kept=kernel.kept,
    )


def _missing_call(kernel: UnstructuredKernel, call: KernelOverload) -> MissingFunction:
    return MissingFunction(
        name=kernel.name,
        key=call.key,
        root=kernel.roots[0],
        namespace=kernel.namespace,
        schema=call.schema,
        operator=call.operator,
        returns=call.signature.returns,
        function=f"{kernel.struct}::{kernel.name}",
        types=call.signature.types,
        pointer=call.signature.pointer_type if len(kernel.calls) > 1 else "",
        to_write=f"{kernel.macro(call)}({call.signature.parameters})",
        header=f"ops/{kernel.roots[0]}_native.h",
        kept=call.kept,
    )


def _missing_member(context: Context, member: KernelOverload) -> MissingFunction:
    backend = context.backend
    assert backend is not None
    function = f"{backend.class_name}::{member.name}"
    return MissingFunction(
        name=function,
        key=member.key,
        root=member.root,
        namespace=backend.cpp_namespace,
        schema=member.schema,
        operator=member.operator,
        returns=member.signature.returns,
        function=function,
        types=member.signature.types,
        pointer=member.signature.pointer_type,
        to_write=f"{member.signature.returns} {function}({member.signature.parameters})",
        header=backend.header,
        kept=member.kept,
        within=backend.cpp_namespace,
    )


def _stub(context: Context, m: MissingFunction) -> Stub:
    f = context.registry.find_function(m.operator)
    assert f is not None, m.operator
    # Operators of two namespaces may have kernels in one C++ namespace, and one translation unit may hold the stubs
    # of several keys.
    own = operator_namespace(f.namespace)
    of = "" if m.namespace.startswith(f"{own}::") else f"{f.namespace}_"
    return Stub(f"opgen_missing_{m.key.name}_{of}{f.func.name.unambiguous_name}", m)
