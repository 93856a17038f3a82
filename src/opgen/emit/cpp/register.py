"""Register<Key>[_n].cpp and ops/<root>_dispatch.h: the kernels of one dispatch key, as a table and as direct functions.

CompositeViewCopyKernels.cpp: the bodies of the kernels that opgen generates itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from opgen.cpp.names import kernel_namespace, operator_struct_name
from opgen.diagnostics import counted
from opgen.emit.common.base import (
    GeneratedFile,
    Item,
    blocks,
    generated,
    group_by,
    sharded,
    sorted_includes,
    unique,
)
from opgen.emit.common.callables import decomposes, kernel_expression
from opgen.emit.common.context import CompositeKernel, Context, class_definitions
from opgen.emit.common.text import operator_struct
from opgen.emit.kernels.headers import meta_roots
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import FunctionSchema, SchemaKind
from opgen.model.native_function import KernelSource, NativeFunction
from opgen.model.profile import operator_namespace
from opgen.resolve.dispatch_tables import Registration, RegistrationKind
from opgen.targets.base import FileKind

# The runtime's headers that declare the classes of `direct_kernel`, besides those that every operator includes.
_HEADERS = {"DirectKernel": (), "MetaKernel": ("opgen/meta_kernel.h",)}


def build_dispatch_headers(context: Context) -> Iterator[GeneratedFile]:
    """Yield one header per root that has direct functions, with those of all keys."""
    # The functions of an operator are the same for all keys with the same class of kernels.
    made: dict[tuple[str, str], Item] = {}
    by_root = group_by(
        (row for rows in _direct(context).values() for row in rows),
        lambda row: row.function.root_name,
    )
    for root, rows in by_root.items():
        classes = [_direct_kernel_class(row.key) for row in rows]
        for row, name in zip(rows, classes):
            f = row.function
            if (f.full_name, name) not in made:
                function, *variants = context.spell.functions(f)
                made[f.full_name, name] = Item(
                    # The constant with the kernel, which Register<Key>.cpp defines, and the functions that call it: that
                    # with the plain signature, and the others.
                    kernel=f"opgen::{name}<_ops::{operator_struct_name(f.func)}>",
                    callee=direct_kernel(f),
                    function=function,
                    variants=tuple(variants),
                )
        yield generated(
            path=f"include/{context.library.name}/ops/{root}_dispatch.h",
            template="ops/root_dispatch.h.j2",
            root=root,
            operator_header=context.library.operator_header(f"ops/{root}_ops.h"),
            runtime_headers=tuple(unique(h for name in classes for h in _HEADERS[name])),
            blocks=blocks(
                (
                    direct_namespace(row.function, row.key),
                    made[row.function.full_name, kernel_class],
                )
                for row, kernel_class in zip(rows, classes)
            ),
        )


def direct_namespace(f: NativeFunction, key: DispatchKey) -> str:
    """Return `at::cpu`: the namespace of functions that call the kernels for `key` directly."""
    return f"{operator_namespace(f.namespace)}::{key.name.lower()}"


def direct_kernel(f: NativeFunction) -> str:
    """Return `opgen_kernel_add_Tensor`: the constant in `direct_namespace` that the direct functions of `f` call."""
    return f"opgen_kernel_{operator_struct_name(f.func)}"


def _direct_kernel_class(key: DispatchKey) -> str:
    """Return the runtime's class of `direct_kernel`: for Meta, calls replace tensors on other devices by tensors on Meta."""
    return "MetaKernel" if key is DispatchKey.Meta else "DirectKernel"


def _has_direct_functions(context: Context, row: Registration) -> bool:
    """Return whether the kernel of `row` can be called without the dispatcher."""
    return (
        row.key in context.target.dispatch.function_keys
        and row.kind is not RegistrationKind.fallthrough
    )


def _direct(context: Context) -> dict[DispatchKey, list[Registration]]:
    found = {
        key: [row for row in rows if _has_direct_functions(context, row)]
        for key, rows in context.registrations.items()
    }
    return {key: rows for key, rows in found.items() if rows}


def build_umbrellas(context: Context) -> Iterator[GeneratedFile]:
    """Build Functions.h, Operators.h, NativeFunctions.h, NativeMetaFunctions.h and a <Key>Functions.h per key."""
    roots, dispatched = context.roots, "every operator as the dispatcher knows it"
    umbrellas: list[tuple[str, str, Iterable[str], str]] = [
        ("Functions.h", "every operator as a function", roots, ""),
        ("Operators.h", dispatched, roots, "_ops"),
        ("NativeFunctions.h", "every kernel", roots, "_native"),
        ("NativeMetaFunctions.h", "every meta class", meta_roots(context), "_meta"),
    ]
    for key, rows in _direct(context).items():
        purpose = f"every operator on {key.name}, without the dispatcher"
        own = {row.function.root_name for row in rows}
        umbrellas.append((f"{key.name}Functions.h", purpose, own, "_dispatch"))
    for name, purpose, some, suffix in umbrellas:
        headers = sorted(context.library.header(f"ops/{root}{suffix}.h") for root in some)
        yield generated(
            path=f"include/{context.library.name}/{name}",
            template="Umbrella.h.j2",
            name=name,
            purpose=purpose,
            includes=tuple(headers),
        )


# Keys for which Register<Key>.cpp is another file, generated from all operators: the file of their kernels is
# Register<Key>Kernels.cpp.
_DECOMPOSED = (DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeExplicitAutograd)
_OWN = frozenset({DispatchKey.Autograd, DispatchKey.Functionalize})


# Keys of devices for which a build of PyTorch may have no support, and the device of each: the sources of their functions
# are then no part of the build. `opgen/existing.h` defines OPGEN_HAS_CUDA and so on.
OPTIONAL_DEVICES = {
    DispatchKey[f"{kind}{device}"]: device
    for device in ("CUDA", "HIP", "MPS", "XPU")
    for kind in ("", "Sparse", "SparseCsr", "Quantized", "NestedTensor")
    if f"{kind}{device}" in DispatchKey.__members__
}


def describe_omission(number: int, key: DispatchKey) -> str:
    """Say that a PyTorch without the device of `key` leaves rows of existing functions out."""
    rows = counted(number, "row is", "rows are")
    return f"{rows} left out for {key.name}: this PyTorch is built without {OPTIONAL_DEVICES[key]}"


def build_register_keys(context: Context) -> Iterator[GeneratedFile]:
    """Yield one source per key that has kernels, or one per shard of it."""
    for key, rows in context.registered.items():
        # The file of kernels that opgen itself adds for the key has the plain name.
        stem = f"Register{key.name}Kernels" if key in _OWN else f"Register{key.name}"
        count = context.library.shards
        for name, members in sharded(stem, rows, lambda row: row.function.root_name, count):
            guards = [guard for row in members if (guard := _guard(context, row))]
            yield generated(
                path=f"src/{name}.cpp",
                template="RegisterKey.cpp.j2",
                guard=guards[0] if guards else "",
                omission=describe_omission(len(guards), key) if guards else "",
                library=context.library.name,
                types=context.types,
                name=name,
                key=key.name,
                includes=_includes(context, key, members),
                classes=class_definitions(row.function for row in members),
                # The constants by which direct functions call the kernels.
                definitions=blocks(
                    (
                        direct_namespace(row.function, key),
                        Item(
                            kernel_class=_direct_kernel_class(row.key),
                            struct=operator_struct(row.function),
                            name=direct_kernel(row.function),
                            kernel=kernel_expression(context, row),
                            guard=_guard(context, row),
                        ),
                    )
                    for row in members
                    if _has_direct_functions(context, row)
                ),
                tables=tuple(_tables(context, key, name, members)),
            )


def _guard(context: Context, row: Registration) -> str:
    """Return the macro that says whether the source of an existing function is part of the build; empty if it always is."""
    is_existing = row.kind is RegistrationKind.existing
    device = (
        OPTIONAL_DEVICES.get(row.key) if is_existing and context.target.required_package else None
    )
    return _macro(device) if device else ""


def _macro(device: str) -> str:
    return f"OPGEN_HAS_{device}"


def _tables(
    context: Context, key: DispatchKey, file: str, rows: Sequence[Registration]
) -> Iterator[Item]:
    """Yield the kernels for `key`; composite ones also for the layers that decompose them into the operators that they call."""
    yield from _table(context, key, file, rows)
    if key in _DECOMPOSED:
        for layer in context.target.dispatch.decomposing_layers:
            decomposed = [
                row
                for row in rows
                if row.kind is not RegistrationKind.fallthrough
                and decomposes(row.function, key, layer)
            ]
            yield from _table(context, layer, file, decomposed)


def _table(
    context: Context, key: DispatchKey, file: str, rows: Iterable[Registration]
) -> Iterator[Item]:
    """Yield the kernels of each namespace for one key."""
    for block in blocks((row.function.namespace, _row(context, row)) for row in rows):
        # A file may have a second table of a namespace, for another key.
        suffix = f"{file}_{block.namespace}" + ("" if key.name in file else f"_{key.name}")
        guards = {row.guard for row in block.items}
        yield Item(
            namespace=block.namespace,
            key=key.name,
            rows=f"opgen_kernels_{suffix}",
            name=f"opgen_table_{suffix}",
            items=block.items,
            # The macro without which there are no rows; empty if some are always there.
            guard=guards.pop() if len(guards) == 1 else "",
        )


def _row(context: Context, row: Registration) -> Item:
    """Return a row of a table of kernels, in the forms of each target.

    The row of an existing function is left out if the macro `guard` is 0.
    """
    f, struct, guard = row.function, operator_struct(row.function), _guard(context, row)
    if row.kind is RegistrationKind.fallthrough:
        kernel, direct = f"opgen::fallthrough<{struct}>()", f"opgen::DirectKernel<{struct}>{{}}"
    elif _has_direct_functions(context, row):
        direct = f"{direct_namespace(f, row.key)}::{direct_kernel(f)}"
        kernel = f"opgen::kernel({direct})"
    else:
        expression = kernel_expression(context, row)
        kernel = f"opgen::kernel<{struct}>({expression})"
        direct = f"opgen::DirectKernel<{struct}>{{{expression}}}"
    named, constant = kernel, f"opgen::kernel<{struct}, {direct}.function>()"
    if row.kind is RegistrationKind.existing:
        assert row.kernel is not None
        existing = row.kernel.cpp_name
        # With the name of the function for PyTorch's messages, and other devices whose rows may be left out.
        keys = (k for k, other in f.dispatch if other.source is KernelSource.existing)
        devices = {OPTIONAL_DEVICES[k] for k in keys if k in OPTIONAL_DEVICES}
        others = () if guard else sorted(devices)
        listed = ", ".join(f'{{{_macro(device)}, "{device}"}}' for device in others)
        more = f", {{{listed}}}" if listed else ""
        named = f'opgen::named({kernel}, "{existing}"{more})'
        constant = f"opgen::existing<{struct}, &{existing}, {direct}.function>()"
    return Item(
        operator=str(f.func.name), kernel=kernel, named=named, constant=constant, guard=guard
    )


def _includes(
    context: Context, key: DispatchKey, rows: tuple[Registration, ...]
) -> tuple[str, ...]:
    headers: set[str] = set()
    makes_headers = FileKind.OPERATOR_DISPATCH in context.target.plan.kinds
    for row in rows:
        is_declared = (
            makes_headers
            and not context.library.backend_only
            and _has_direct_functions(context, row)
        )
        suffix = "dispatch" if is_declared else "ops"
        headers.update((f"ops/{row.function.root_name}_{suffix}.h", _kernel_header(row)))
        if row.kind is RegistrationKind.composite_structured:
            assert row.group is not None
            headers.add(f"ops/{row.group.primary.root_name}_ops.h")
    besides = context.target.dispatch.key_headers.get(key)
    kinds = {row.kind for row in rows}
    existing = [row.function for row in rows if row.kind is RegistrationKind.existing]
    own = set()
    if context.library.backend_only:
        own = {_kernel_header(r) for r in rows if r.kind is RegistrationKind.structured}
    of_backend = []
    if context.backend is not None and RegistrationKind.external in kinds:
        of_backend.append(context.library.header(context.backend.header))
        if kinds & {RegistrationKind.from_functional, RegistrationKind.from_out}:
            of_backend.append("opgen/external_backend.h")
    return sorted_includes(
        *(() if besides is None else (besides,)),
        *(("opgen/existing.h",) if existing else ()),
        *map(context.library.operator_header, headers.difference(own)),
        *map(context.library.header, own),
        *of_backend,
        *(header for f in existing for header in f.includes),
    )


def _kernel_header(row: Registration) -> str:
    """Return the header that declares the kernel of `row`."""
    group, kind = row.group, row.kind
    if kind is RegistrationKind.unstructured:
        return f"ops/{row.function.root_name}_native.h"
    if kind not in (RegistrationKind.structured, RegistrationKind.composite_structured):
        return f"ops/{row.function.root_name}_ops.h"
    assert group is not None
    has_kernel = kind is RegistrationKind.structured and row.kernel is not None
    return f"ops/{group.root_name}_{'native' if has_kernel else 'meta'}.h"


def build_composite_kernels(context: Context) -> Iterator[GeneratedFile]:
    """Build CompositeViewCopyKernels[_n].cpp, unless there is nothing to write."""
    written = [k for k in context.composite_kernels if context.keeps(k.function)]
    if not written:
        return
    stem, count = "CompositeViewCopyKernels", context.library.shards
    for name, kernels in sharded(stem, written, lambda k: k.function.root_name, count):
        headers = {f"ops/{k.function.root_name}_native.h" for k in kernels}
        headers |= {f"ops/{k.source.root_name}_ops.h" for k in kernels}
        yield generated(
            path=f"src/{name}.cpp",
            template="CompositeViewCopyKernels.cpp.j2",
            name=name,
            includes=tuple(map(context.library.header, sorted(headers))),
            blocks=blocks(
                (kernel_namespace(k.function.namespace, k.kernel.namespace), _kernel(context, k))
                for k in kernels
            ),
        )


def _kernel(context: Context, kernel: CompositeKernel) -> Item:
    """Return the definition of a kernel, a member of a struct of its own."""
    f, source = kernel.function, kernel.source
    native = context.signatures.native(f, symint=kernel.kernel.supports_symint)
    wanted = context.signatures.dispatcher(source).arguments
    # The arguments of the sibling, as expressions over those of the kernel.
    passed = context.spell.expressions(native.arguments, wanted)
    arguments = {str(b.name): text for b, text in zip(wanted, passed)}
    callee, standard = f"{operator_struct(source)}::call", context.target.cpp.spelling.standard
    if f.func.kind() is SchemaKind.out:
        body = _out(f.func, source.func, callee, arguments, standard)
    elif source.func.is_mutable:
        body = _functional(source.func, callee, arguments, standard)
    elif source.root_name == "view":
        # `view` rejects strides that it cannot express, so it is called on a contiguous copy.
        first, *rest = passed
        body = iter([f"return {callee}({', '.join([f'opgen::clone_view({first})', *rest])});"])
    else:
        body = iter([f"return opgen::clone_view({callee}({', '.join(passed)}));"])
    return Item(
        schema=str(f.func),
        name=kernel.kernel.name,
        signature=context.spell.spelled(native),
        body=tuple(body),
    )


def _functional(
    source: FunctionSchema, callee: str, arguments: Mapping[str, str], standard: str
) -> Iterator[str]:
    written = source.arguments.mutable_arg_names
    for name in written:
        yield f"auto opgen_{name} = opgen::clone_arg({name});"
    passed = [f"opgen_{n}" if n in written else text for n, text in arguments.items()]
    call = f"{callee}({', '.join(passed)})"
    aliased = source.aliased_return_names()
    yield f"auto opgen_result = {call};" if None in aliased else f"{call};"
    results = [
        f"opgen_{name}" if name is not None else _element(i, len(aliased), standard)
        for i, name in enumerate(aliased)
    ]
    results += [f"opgen_{name}" for name in written if name not in aliased]
    yield f"return {_returned(results, standard)};"


def _out(
    func: FunctionSchema,
    source: FunctionSchema,
    callee: str,
    arguments: Mapping[str, str],
    standard: str,
) -> Iterator[str]:
    yield f"auto opgen_result = {callee}({', '.join(arguments.values())});"
    written = [a.name for a in func.arguments.out]
    written += [a.name for a in func.arguments.flat_non_out if a.is_write]
    yield f"opgen::assign_outputs(opgen_result, {', '.join(written)});"
    # The results that have no out argument: all except tensors and lists of tensors.
    plain = (
        _element(i, len(source.returns), standard)
        for i, r in enumerate(source.returns)
        if not r.type.is_tensor_like()
    )
    aliased = func.aliased_return_names()
    results = [name if name is not None else next(plain) for name in aliased]
    if not results:
        return
    if None in aliased or len(results) == 1:
        yield f"return {_returned(results, standard)};"
    else:
        yield f"return {standard}forward_as_tuple({', '.join(results)});"


def _element(index: int, count: int, standard: str) -> str:
    return "opgen_result" if count == 1 else f"{standard}get<{index}>(opgen_result)"


def _returned(results: list[str], standard: str) -> str:
    return results[0] if len(results) == 1 else f"{standard}make_tuple({', '.join(results)})"
