"""Direct functions of one dispatch key: ops/<root>_<key>_dispatch.h, past the dispatcher."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.cpp.names import operator_namespace
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.resolve.dispatch_tables import Registration
from opgen.views.base import FileView, group_by, view
from opgen.views.context import Context
from opgen.views.text import Caller


@view
class DirectBlock:
    """Functions in `namespace` (at::cpu), which lies in `parent` (at)."""

    namespace: str
    parent: str
    items: tuple[Caller, ...]


@view
class DispatchHeaderView(FileView):
    root: str
    key: str
    key_lower: str
    tensor_header: str
    blocks: tuple[DirectBlock, ...]


def build_dispatch_headers(context: Context) -> Iterator[FileView]:
    """One header per root and key that has direct functions."""
    for key, rows in _direct(context).items():
        by_root = group_by((row.function for row in rows), lambda f: f.root_name)
        lower = key.name.lower()
        for root, functions in by_root.items():
            yield DispatchHeaderView(
                path=f"include/{context.library.name}/ops/{root}_{lower}_dispatch.h",
                template="ops/root_key_dispatch.h.j2",
                root=root,
                key=key.name,
                key_lower=lower,
                tensor_header=context.tensor_header,
                blocks=tuple(_declarations(context, key, functions)),
            )


def dispatch_header_roots(context: Context) -> dict[DispatchKey, tuple[str, ...]]:
    """For every key with direct functions, the roots that have some, sorted."""
    return {
        key: tuple(sorted({row.function.root_name for row in rows}))
        for key, rows in _direct(context).items()
    }


def direct_namespace(f: NativeFunction, key: DispatchKey) -> str:
    """`at::cpu`: where the functions are that call what is registered for `key`."""
    return f"{operator_namespace(f.namespace)}::{key.name.lower()}"


def _declarations(
    context: Context, key: DispatchKey, functions: list[NativeFunction]
) -> Iterator[DirectBlock]:
    by_namespace = group_by(functions, lambda f: direct_namespace(f, key))
    for namespace, members in by_namespace.items():
        callers = (c for f in members for c in context.spell.callers(f, method=False))
        yield DirectBlock(namespace, operator_namespace(members[0].namespace), tuple(callers))


def _direct(context: Context) -> dict[DispatchKey, tuple[Registration, ...]]:
    keys = context.target.function_keys
    return {key: rows for key, rows in context.registrations.items() if key in keys}
