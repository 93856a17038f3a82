"""From the word at a place to where it is defined, where it is used, and the outline of a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opgen.diagnostics import Span
from opgen.lsp.kernels import Definition
from opgen.lsp.outline import Entry, Key, Outline
from opgen.lsp.words import Kind, Word

_NAME = re.compile(r"[A-Za-z_][\w.:]*")


def find_definitions(
    word: Word, outlines: Iterable[Outline], definitions: Iterable[Definition]
) -> list[Span]:
    """Of a kernel its C++, of a delegate its entry, of an operator's own name its meta and kernels."""
    if word.kind is Kind.kernel:
        kernel = word.text.rsplit("::", 1)[-1]
        return [d.span for d in definitions if not d.is_meta and d.name == kernel]
    if word.kind is not Kind.operator:
        return []
    if word.key.name != "func":
        return [e.name for o in outlines if (e := o.by_name.get(word.operator)) and e.name]
    return own_cpp(word.entry, definitions)


def own_cpp(entry: Entry, definitions: Iterable[Definition]) -> list[Span]:
    """The meta function and the kernels of an entry, in the order of the C++ files."""
    kernels = {kernel.text.rsplit("::", 1)[-1] for kernel in kernel_names(entry)}
    base, _, overload = entry.operator.partition(".")
    if not kernels:
        kernels = {f"{base}_out" if overload.endswith("out") else base}
    # The meta function is named after the functional operator; add.out may belong to add.Tensor.
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
    """Where an operator is delegated to or generated, with its C++; where a kernel stands."""
    outlines, definitions = tuple(outlines), tuple(definitions)
    if word.kind is Kind.kernel:
        name = word.text.rsplit("::", 1)[-1]
        rows = [k for o in outlines for e in o.entries for k in kernel_names(e)]
        used = [k for k in rows if k.text.rsplit("::", 1)[-1] == name]
        return [*used, *find_definitions(word, outlines, definitions)]
    if word.kind is not Kind.operator:
        return []
    found: list[Span] = []
    for outline in outlines:
        own = outline.by_name.get(word.operator)
        if own is not None and own.name is not None:
            found += [own.name] if with_declaration else []
            found += own_cpp(own, definitions)
        found += _mentions(outline, word.operator)
    return found


def kernel_names(entry: Entry) -> Iterator[Span]:
    """The kernels in the dispatch table of an entry, as they are written."""
    table = entry.key("dispatch")
    if table is None:
        return
    source = table.span.source
    for line in range(table.first, table.end):
        text = source.line_text(line + 1)
        start = source.line_starts()[line]
        found = re.match(r"^[ \t]+[\w ,]+:[ \t]+([\w:]+)", text)
        if found is not None and line > table.first:
            yield Span(source, start + found.start(1), start + found.end(1))


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
    for found in _NAME.finditer(text):
        start = key.value.start
        yield Span(key.value.source, start + found.start(), start + found.end())
