"""The documentation of operators whose entries have none."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction


def with_documentation(functions: tuple[NativeFunction, ...]) -> tuple[NativeFunction, ...]:
    """Give each out variant without documentation that of its functional variant.

    An empty text, by which an entry suppresses its documentation, becomes None.
    """
    if all(f.doc is None for f in functions):
        return functions
    return tuple(_documented(functions))


def _documented(functions: tuple[NativeFunction, ...]) -> Iterator[NativeFunction]:
    known = {
        (f.namespace, f.func.signature()): f.doc
        for f in functions
        if f.doc and f.func.kind() is SchemaKind.functional
    }
    for f in functions:
        if f.doc is None and f.func.is_out_fn():
            doc = known.get((f.namespace, f.func.signature()))
            yield f if doc is None else replace(f, doc=doc)
        else:
            yield f if f.doc or f.doc is None else replace(f, doc=None)
