"""Direct functions of one dispatch key: ops/<root>_<key>_dispatch.h, past the dispatcher."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opgen.cpp.names import operator_namespace
from opgen.model.dispatch_key import DispatchKey
from opgen.resolve.dispatch_tables import Registration
from opgen.views.base import Block, FileView, FunctionView, blocks, group_by
from opgen.views.callables import callable_text
from opgen.views.context import Context


@dataclass(frozen=True, slots=True)
class DirectBlock:
    """Functions in `namespace` (at::cpu), which lies in `parent` (at)."""

    namespace: str
    parent: str
    items: tuple[FunctionView, ...]


@dataclass(frozen=True, slots=True)
class DispatchHeaderView(FileView):
    root: str
    key: str
    key_lower: str
    tensor_header: str
    blocks: tuple[DirectBlock, ...]


def build_dispatch_headers(context: Context) -> Iterator[FileView]:
    """One header per root and key that has direct functions."""
    for key, rows in _direct(context).items():
        for root, members in group_by(rows, lambda row: row.function.root_name).items():
            lower = key.name.lower()
            yield DispatchHeaderView(
                path=f"include/{context.library.name}/ops/{root}_{lower}_dispatch.h",
                template="ops/root_key_dispatch.h.j2",
                root=root,
                key=key.name,
                key_lower=lower,
                tensor_header=context.library.tensor_header,
                blocks=tuple(
                    DirectBlock(block.namespace, block.namespace.rsplit("::", 1)[0], block.items)
                    for block in direct_functions(context, key, tuple(members))
                ),
            )


def dispatch_header_roots(context: Context) -> dict[DispatchKey, tuple[str, ...]]:
    """For every key with direct functions, the roots that have some, sorted."""
    return {
        key: tuple(sorted({row.function.root_name for row in rows}))
        for key, rows in _direct(context).items()
    }


def direct_functions(
    context: Context, key: DispatchKey, rows: tuple[Registration, ...]
) -> tuple[Block[FunctionView], ...]:
    """Every C++ signature of `rows`, each calling what is registered for `key`."""
    if key not in context.target.function_keys:
        return ()
    return blocks(
        (
            f"{operator_namespace(row.function.namespace)}::{key.name.lower()}",
            context.spell.function(row.function, signature, callable_text(context, row)),
        )
        for row in rows
        for signature in context.spell.cpp_signatures(row.function, method=False)
    )


def _direct(context: Context) -> dict[DispatchKey, tuple[Registration, ...]]:
    keys = context.target.function_keys
    return {key: rows for key, rows in context.registrations.items() if key in keys}
