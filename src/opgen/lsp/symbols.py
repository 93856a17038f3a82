"""List the symbols of documents, which editors show and search."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from opgen.diagnostics import Span
from opgen.lsp.navigation import kernel_names
from opgen.lsp.outline import Entry, Outline
from opgen.lsp.positions import Positions

# The most results of a search.
_MAX_RESULTS = 200


def document_symbols(outline: Outline, positions: Positions) -> list[types.DocumentSymbol]:
    """Return the operators of a document, each with its kernels, after the namespace of its header."""
    head = outline.entries[0] if outline.entries and outline.entries[0].is_header else None
    key = None if head is None else head.key("namespace")
    symbols = []
    if head is not None and key is not None and key.value.text:
        where = positions.range(head.span), positions.range(key.value)
        symbols = [types.DocumentSymbol(key.value.text, types.SymbolKind.Namespace, *where)]
    return [
        *symbols,
        *_operators(outline, positions),
    ]


def _operators(outline: Outline, positions: Positions) -> list[types.DocumentSymbol]:
    return [
        types.DocumentSymbol(
            name=entry.name.text,
            kind=types.SymbolKind.Function,
            range=positions.range(entry.span),
            selection_range=positions.range(entry.name),
            children=_kernels(entry, positions),
        )
        for entry in outline.entries
        if entry.name is not None
    ]


def workspace_symbols(
    query: str, outlines: Iterable[Outline], location: Callable[[Span], types.Location]
) -> list[types.WorkspaceSymbol]:
    """Return the operators whose full names contain `query`, ignoring case."""
    lower_query = query.lower()
    names = [
        (entry.full_name, entry.name)
        for outline in outlines
        for entry in outline.entries
        if entry.name is not None and lower_query in entry.full_name.lower()
    ]
    return [
        types.WorkspaceSymbol(location(span), name, types.SymbolKind.Function)
        for name, span in names[:_MAX_RESULTS]
    ]


def _kernels(entry: Entry, positions: Positions) -> list[types.DocumentSymbol]:
    return [
        types.DocumentSymbol(
            span.text, types.SymbolKind.Method, positions.range(span), positions.range(span)
        )
        for span in kernel_names(entry)
    ]
