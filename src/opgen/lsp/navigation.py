"""Describe the word under the cursor, and find its uses and its definitions, also in C++ sources.

Existing functions, `::ns::fn` in dispatch tables, are found by the form of their definitions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from lsprotocol import types
from msgspec import Struct, field

from opgen import data
from opgen.diagnostics import Diagnostics, Source, Span
from opgen.importing.cpp.functions import Functions
from opgen.importing.cpp.grammar import Grammar
from opgen.importing.cpp.text import read_cpp
from opgen.io.manifest import MANIFEST
from opgen.lsp.documents import Analysis
from opgen.lsp.outline import Entry, Kind, Outline, Word
from opgen.lsp.protocol import Positions
from opgen.model.dispatch_key import DispatchKey
from opgen.model.types import BaseTy
from opgen.parse.entries.keys import (
    CLASS,
    ENTRY,
    EXISTING_DESCRIPTION,
    FALLTHROUGH_DESCRIPTION,
    HEADER,
    describe_dispatch_key,
    described,
)
from opgen.pipeline import queries
from opgen.pipeline.author_headers import find_cpp_text
from opgen.pipeline.kernel_sources import Definition, find_definitions
from opgen.pipeline.loading import read_tags

_CUSTOM_CLASS = "__torch__.torch.classes."

_BASE = re.compile(r"\w+")


def known_types() -> tuple[BaseTy, ...]:
    """Return the base types of the newest version of the language."""
    return tuple(BaseTy[row[0]] for row in data.read_rows("types.txt") if len(row) == 1)


def library_types() -> tuple[BaseTy, ...]:
    """Return the base types that operators outside of `aten` may have."""
    return tuple(BaseTy[name] for name in data.read_names("library_types.txt"))


def _describe_type(text: str) -> str | None:
    """Describe the type at the start of `text`; None if there is no such type."""
    if text.startswith(_CUSTOM_CLASS):
        name = text[len(_CUSTOM_CLASS) :]
        return (
            f"The custom class `{name}`. The key `classes` names its C++ class (outside of `aten`)."
        )
    word = _BASE.match(text)
    return None if word is None else type_words().get(word.group())


@cache
def type_words() -> Mapping[str, str]:
    """Return what types stand for, in Markdown, as docs/reference/schema.md says."""
    return dict(data.table_rows(data.read_sections("reference/schema")["What types stand for"]))


def hover_text(word: Word, known: Analysis | None) -> str | None:
    """Return the description of `word`; None if there is none. `known` may be the analysis of an older text."""
    match word.kind:
        case Kind.key:
            text = described(ENTRY).get(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case Kind.operator:
            return _operator(word.operator, known)
        case Kind.kernel:
            operator = _operator(word.operator, known)
            head = f"Kernel `{word.text}` of `{word.operator}`"
            if word.is_existing:
                head = f"Function `::{word.text}` of `{word.operator}`: {EXISTING_DESCRIPTION}"
            return head if operator is None else f"{head}\n\n{operator}"
        case Kind.dispatch_key:
            dispatch_key = DispatchKey.__members__.get(word.text)
            if dispatch_key is None:
                return None
            return f"**{word.text}**: {describe_dispatch_key(dispatch_key)}"
        case Kind.tag:
            tags = () if known is None else read_tags(known.inputs, Diagnostics()).tags
            texts = (
                f"**{t.name}**: {' '.join(t.desc.split())}" for t in tags if t.name == word.text
            )
            return next(texts, None)
        case Kind.fallthrough:
            return f"**{word.text}**: {FALLTHROUGH_DESCRIPTION}"
        case Kind.header_key:
            text = described(HEADER).get(word.text) or described(CLASS).get(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case Kind.formula_key | Kind.formula:
            return None
        case Kind.schema:
            text = _describe_type(word.text)
            return None if text is None else f"**{word.text}**: {text}"


def _operator(name: str, known: Analysis | None) -> str | None:
    function = None if known is None else known.registry.find_function(name)
    if known is None or function is None:
        return None
    return queries.summarize(known.registry, known.inputs, function)


_NAME = re.compile(r"[A-Za-z_][\w.:]*")


def definitions_of(
    word: Word, outlines: Iterable[Outline], definitions: Iterable[Definition]
) -> list[Span]:
    """Return the C++ of a kernel, the entry of a delegate, or the meta function and kernels of an operator's name."""
    if word.kind is Kind.kernel:
        kernel = word.text.rsplit("::", 1)[-1]
        return [d.span for d in definitions if not d.is_meta and d.name == kernel]
    if word.kind is not Kind.operator:
        return []
    if word.key.name != "func":
        return entries_of(word, outlines)
    return own_cpp(word.entry, definitions)


def entries_of(word: Word, outlines: Iterable[Outline]) -> list[Span]:
    """Return the names of an operator in its entries."""
    return [e.name for o in outlines if (e := o.by_name.get(word.operator)) and e.name]


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
        return [*used, *definitions_of(word, outlines, definitions)]
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
            if key is None:
                continue
            for match in _NAME.finditer(key.value.text.split("#", 1)[0]):
                text = match[0] if "::" in match[0] else f"{entry.namespace}::{match[0]}"
                if text == full_name:
                    start = key.value.start
                    yield Span(outline.source, start + match.start(), start + match.end())


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
        *[
            types.DocumentSymbol(
                name=entry.name.text,
                kind=types.SymbolKind.Function,
                range=positions.range(entry.span),
                selection_range=positions.range(entry.name),
                children=[
                    types.DocumentSymbol(kernel.text, types.SymbolKind.Method, place, place)
                    for kernel in kernel_names(entry)
                    for place in (positions.range(kernel),)
                ],
            )
            for entry in outline.entries
            if entry.name is not None
        ],
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


_SUFFIXES = (".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp", ".cuh", ".mm")
# The most files that are searched, in case the workspace is a home folder.
_MAX_FILES = 20_000


class KernelIndex(Struct):
    """A cache of the definitions in folders. A file is read again if its time or size changes."""

    _files: dict[str, tuple[tuple[int, int], tuple[Definition, ...]]] = field(default_factory=dict)

    def definitions(self, roots: Iterable[Path]) -> list[Definition]:
        """Return the definitions in all sources below `roots`."""
        definitions: list[Definition] = []
        cached, self._files = self._files, {}
        for path in _sources(roots):
            try:
                status = os.stat(path)
            except OSError:
                continue
            stamp = status.st_mtime_ns, status.st_size
            last = cached.get(path)
            if last is None or last[0] != stamp:
                text = find_cpp_text(path)
                found = () if text is None else find_definitions(Source(path, text))
                # An inner loop has no place in a dispatch table.
                last = stamp, tuple(one for one in found if one.macro != "OPGEN_UFUNC")
            self._files[path] = last
            definitions += last[1]
        return definitions


def find_functions(roots: Iterable[Path], name: str) -> list[Span]:
    """Return the definitions of the functions `name`, such as `ns::fn`; without any, its declarations.

    Namespaces are ignored.
    """
    plain = name.rsplit("::", 1)[-1]
    found = ((path, find_cpp_text(path)) for path in _sources(roots))
    sources = [Source(path, text) for path, text in found if text is not None and plain in text]
    functions = Functions([read_cpp(source) for source in sources], Grammar()).named(plain)
    defined = [f.span for f in functions if f.is_definition]
    return defined or [f.span for f in functions]


def _sources(roots: Iterable[Path]) -> Iterator[str]:
    seen: set[str] = set()
    for root in roots:
        for folder, folders, files in os.walk(root):
            # Generated trees declare and register kernels, but do not define them.
            if MANIFEST in files:
                folders[:] = []
                continue
            folders[:] = sorted(d for d in folders if not d.startswith(".") and d != "node_modules")
            for name in sorted(files):
                path = os.path.join(folder, name)
                if name.endswith(_SUFFIXES) and path not in seen:
                    seen.add(path)
                    if len(seen) > _MAX_FILES:
                        return
                    yield path
