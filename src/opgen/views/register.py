"""Register<Key>[_n].cpp, of some keys Register<Key>Kernels: the table of kernels for a key, and its direct functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.resolve.dispatch_tables import Registration, RegistrationKind
from opgen.views.base import Block, FileView, FunctionView, blocks, unique, view
from opgen.views.batching import decomposes
from opgen.views.callables import callable_text
from opgen.views.context import Context
from opgen.views.custom_classes import ClassDefinition, class_definitions
from opgen.views.dispatch_headers import direct_namespace
from opgen.views.shards import sharded
from opgen.views.text import operator_struct

# Keys whose own names are those of files for all operators: RegisterAutograd.cpp, RegisterFunctionalize.cpp.
_DECOMPOSED = (DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeExplicitAutograd)
_OWN = frozenset({DispatchKey.Autograd, DispatchKey.Functionalize})


@view
class KernelRowView:
    """One row of a table of kernels. Without a `callable` a call goes on to the next key."""

    operator: str
    struct: str
    callable: str


@view
class KernelTableView:
    """The kernels of one namespace for one key."""

    namespace: str
    key: str
    items: tuple[KernelRowView, ...]


@view
class RegisterKeyView(FileView):
    library: str
    name: str
    key: str
    includes: tuple[str, ...]
    author_includes: tuple[str, ...]
    classes: tuple[ClassDefinition, ...]
    functions: tuple[Block[FunctionView], ...]
    tables: tuple[KernelTableView, ...]


def build_register_keys(context: Context) -> Iterator[FileView]:
    """One source per key that has kernels, or one per shard of it."""
    for key, rows in context.registered.items():
        stem, count = _stem(key), context.library.shards
        for name, members in sharded(stem, rows, lambda row: row.function.root_name, count):
            callables = [(row.function, _callable(context, row)) for row in members]
            yield RegisterKeyView(
                path=f"src/{name}.cpp",
                template="RegisterKey.cpp.j2",
                library=context.library.name,
                name=name,
                key=key.name,
                includes=_includes(context, key, members),
                author_includes=_author_includes(members),
                classes=class_definitions(row.function for row in members),
                functions=_direct_functions(context, key, callables),
                tables=tuple(_tables(context, key, callables)),
            )


def _tables(
    context: Context, key: DispatchKey, callables: Sequence[tuple[NativeFunction, str]]
) -> Iterator[KernelTableView]:
    """The kernels for `key`; composite ones also for the layers in which what they call does the work."""
    yield from _table(key, callables)
    if context.target.functionalizes and key in _DECOMPOSED:
        for layer in (DispatchKey.Functionalize, DispatchKey.FuncTorchBatchedDecomposition):
            rows = [(f, text) for f, text in callables if text and decomposes(f, key, layer)]
            yield from _table(layer, rows)


def _table(
    key: DispatchKey, callables: Iterable[tuple[NativeFunction, str]]
) -> Iterator[KernelTableView]:
    for block in blocks((f.namespace, _row(f, text)) for f, text in callables):
        yield KernelTableView(block.namespace, key.name, block.items)


def _stem(key: DispatchKey) -> str:
    """The file of a key, which is not that of what opgen registers of its own accord for it."""
    return f"Register{key.name}Kernels" if key in _OWN else f"Register{key.name}"


def _direct_functions(
    context: Context, key: DispatchKey, callables: Iterable[tuple[NativeFunction, str]]
) -> tuple[Block[FunctionView], ...]:
    """Every C++ signature of the operators, each calling what is registered for `key`."""
    if key not in context.target.function_keys:
        return ()
    return blocks(
        (direct_namespace(f, key), function)
        for f, text in callables
        if text
        for function in context.spell.functions(f, text)
    )


def _callable(context: Context, row: Registration) -> str:
    return "" if row.kind is RegistrationKind.fallthrough else callable_text(context, row)


def _author_includes(rows: tuple[Registration, ...]) -> tuple[str, ...]:
    """The headers that declare existing functions, as they stand behind `#include`."""
    existing = (row.function for row in rows if row.kind is RegistrationKind.existing)
    return tuple(unique(header for f in existing for header in f.includes))


def _row(f: NativeFunction, text: str) -> KernelRowView:
    return KernelRowView(operator=str(f.func.name), struct=operator_struct(f), callable=text)


def _includes(
    context: Context, key: DispatchKey, rows: tuple[Registration, ...]
) -> tuple[str, ...]:
    headers = set()
    for row in rows:
        root = row.function.root_name
        headers.add(f"ops/{root}_ops.h")
        headers.add(_kernel_header(row))
        if key in context.target.function_keys:
            headers.add(f"ops/{root}_{key.name.lower()}_dispatch.h")
        if row.kind is RegistrationKind.composite_structured:
            assert row.group is not None
            headers.add(f"ops/{row.group.primary.root_name}_ops.h")
    besides = context.target.key_headers.get(key)
    existing = any(row.kind is RegistrationKind.existing for row in rows)
    own = (
        sorted({_kernel_header(r) for r in rows if r.kind is RegistrationKind.structured})
        if context.library.backend_only
        else ()
    )
    return (
        *(() if besides is None else (besides,)),
        *(("opgen/existing.h",) if existing else ()),
        *map(context.library.operator_header, sorted(headers.difference(own))),
        *map(context.library.header, own),
        *_backend_includes(context, rows),
    )


def _backend_includes(context: Context, rows: tuple[Registration, ...]) -> tuple[str, ...]:
    kinds = {row.kind for row in rows}
    if context.backend is None or RegistrationKind.external not in kinds:
        return ()
    own = context.library.header(context.backend.header)
    made = {RegistrationKind.from_functional, RegistrationKind.from_out} & kinds
    return ("opgen/external_backend.h", own) if made else (own,)


def _kernel_header(row: Registration) -> str:
    """The header that declares what `row` registers."""
    root = row.function.root_name
    match row.kind:
        case (
            RegistrationKind.backend_select
            | RegistrationKind.meta_inplace_stub
            | RegistrationKind.external
            | RegistrationKind.from_functional
            | RegistrationKind.from_out
            | RegistrationKind.select_by_device
            | RegistrationKind.meta_of_written
            | RegistrationKind.fallthrough
            | RegistrationKind.existing
        ):
            return f"ops/{root}_ops.h"
        case RegistrationKind.composite_structured:
            assert row.group is not None
            return f"ops/{row.group.root_name}_meta.h"
        case RegistrationKind.structured:
            assert row.group is not None
            suffix = "meta" if row.kernel is None else "native"
            return f"ops/{row.group.root_name}_{suffix}.h"
        case RegistrationKind.unstructured:
            return f"ops/{root}_native.h"
