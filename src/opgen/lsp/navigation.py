"""Find the definitions and uses of the word under the cursor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from lsprotocol import types

from opgen.diagnostics import Span
from opgen.lsp.outline import Entry, Key, Kind, Outline, Word
from opgen.lsp.protocol import Positions
from opgen.pipeline.kernel_sources import Definition

_NAME = re.compile(r"[A-Za-z_][\w.:]*")


def find_definitions(
    word: Word, outlines: Iterable[Outline], definitions: Iterable[Definition]
) -> list[Span]:
    """Return the C++ of a kernel, the entry of a delegate, or the meta function and kernels of an operator's name."""
    if word.kind is Kind.kernel:
        kernel = word.text.rsplit("::", 1)[-1]
        return [d.span for d in definitions if not d.is_meta and d.name == kernel]
    if word.kind is not Kind.operator:
        return []
    if word.key.name != "func":
        return [e.name for o in outlines if (e := o.by_name.get(word.operator)) and e.name]
    return own_cpp(word.entry, definitions)


def own_cpp(entry: Entry, definitions: Iterable[Definition]) -> list[Span]:
    """Return the meta function and the kernels of an entry, in the order of the C++ files."""
    kernels = {kernel.text.rsplit("::", 1)[-1] for kernel in kernel_names(entry)}
    base, _, overload = entry.operator.partition(".")
    if not kernels:
        kernels = {f"{base}_out" if overload.endswith("out") else base}
    # The meta function has the name of the functional operator: that of add.out may be add.Tensor.
    metas = {entry.operator, base}
    return [
        d.span
        for d in definitions
        if (d.name in kernels and not d.is_meta)
        or (d.is_meta and (d.name in metas or d.name.split(".")[0] == base))
    ]


def find_references(
    word: Word,
    outlines: Iterable[Outline],
    definitions: Iterable[Definition],
    *,
    with_declaration: bool,
) -> list[Span]:
    """Return the delegations to an operator, its `autogen` entries and its C++; for a kernel, its rows and its C++."""
    outlines, definitions = tuple(outlines), tuple(definitions)
    if word.kind is Kind.kernel:
        name = word.text.rsplit("::", 1)[-1]
        rows = [k for o in outlines for e in o.entries for k in kernel_names(e)]
        used = [k for k in rows if k.text.rsplit("::", 1)[-1] == name]
        return [*used, *find_definitions(word, outlines, definitions)]
    if word.kind is not Kind.operator:
        return []
    references: list[Span] = []
    for outline in outlines:
        own = outline.by_name.get(word.operator)
        if own is not None and own.name is not None:
            references += [own.name] if with_declaration else []
            references += own_cpp(own, definitions)
        references += _mentions(outline, word.operator)
    return references


def kernel_names(entry: Entry) -> Iterator[Span]:
    """Yield the kernels in the dispatch table of an entry, as they are written."""
    table = entry.key("dispatch")
    if table is None:
        return
    source = table.span.source
    for line in range(table.first, table.end):
        text = source.line_text(line + 1)
        start = source.line_starts()[line]
        row = re.match(r"^[ \t]+[\w ,]+:[ \t]+([\w:]+)", text)
        if row is not None and line > table.first:
            yield Span(source, start + row.start(1), start + row.end(1))


def _mentions(outline: Outline, full_name: str) -> Iterator[Span]:
    for entry in outline.entries:
        for name in ("structured_delegate", "autogen"):
            key = entry.key(name)
            for span in () if key is None else _names(key):
                text = span.text if "::" in span.text else f"{entry.namespace}::{span.text}"
                if text == full_name:
                    yield span


def _names(key: Key) -> Iterator[Span]:
    text = key.value.text.split("#", 1)[0]
    for name in _NAME.finditer(text):
        start = key.value.start
        yield Span(key.value.source, start + name.start(), start + name.end())


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
