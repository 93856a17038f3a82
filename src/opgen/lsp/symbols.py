"""Outlines into the symbols that editors list and search."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from opgen.diagnostics import Span
from opgen.lsp.navigation import kernel_names
from opgen.lsp.outline import Entry, Outline
from opgen.lsp.positions import Positions

# More than a person scrolls through.
_MAX_FOUND = 200


def document_symbols(outline: Outline, positions: Positions) -> list[types.DocumentSymbol]:
    """The operators of a document, each with its kernels, behind the namespace that its head names."""
    head = outline.entries[0] if outline.entries and outline.entries[0].is_head else None
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
    """The operators whose full names hold `query`."""
    wanted = query.lower()
    names = [
        (entry.full_name, entry.name)
        for outline in outlines
        for entry in outline.entries
        if entry.name is not None and wanted in entry.full_name.lower()
    ]
    return [
        types.WorkspaceSymbol(location(span), name, types.SymbolKind.Function)
        for name, span in names[:_MAX_FOUND]
    ]


def _kernels(entry: Entry, positions: Positions) -> list[types.DocumentSymbol]:
    return [
        types.DocumentSymbol(
            span.text, types.SymbolKind.Method, positions.range(span), positions.range(span)
        )
        for span in kernel_names(entry)
    ]
