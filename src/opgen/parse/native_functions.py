"""The texts of native_functions.yaml files into NativeFunctions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opgen.diagnostics import Diagnostics, Source, until_too_many
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.tags import TagSet
from opgen.parse import codes_yaml as codes
from opgen.parse.entry_parser import parse_entry
from opgen.parse.key_readers import EntryContext
from opgen.parse.text_reader import SchemaCache
from opgen.parse.yaml_nodes import SequenceNode, compose


@until_too_many(tuple[NativeFunction, ...])
def parse_native_functions(
    sources: Sequence[Source],
    tags: TagSet,
    ignore_keys: Collection[DispatchKey],
    diagnostics: Diagnostics,
    cache: SchemaCache | None = None,
) -> tuple[NativeFunction, ...]:
    """The operators of all files, in order, without the entries that were reported."""
    cache = SchemaCache() if cache is None else cache
    context = EntryContext(tags, ignore_keys, diagnostics, cache)
    found = [f for source in sources for f in _parse_file(source, context)]
    return tuple(found)


def _parse_file(source: Source, context: EntryContext) -> list[NativeFunction]:
    diagnostics = context.diagnostics
    before = len(diagnostics)
    root = compose(source, diagnostics)
    if root is None and len(diagnostics) > before:
        return []
    if not isinstance(root, SequenceNode):
        message = "a schema file is a list of entries"
        span = source.start if root is None else root.span
        hint = "write '[]' if there are none" if root is None else "each begins with '- func:'"
        diagnostics.error(codes.E0104, message, span, hint=hint)
        return []
    entries = [parse_entry(node, context) for node in root.items]
    return [f for f in entries if f is not None]
