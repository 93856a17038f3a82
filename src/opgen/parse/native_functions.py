"""The texts of native_functions.yaml files into NativeFunctions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from opgen.dataclasses import dataclass, replace
from opgen.diagnostics import Diagnostics, Source, until_too_many
from opgen.model.cpp_identifier import is_library_name
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.refused import Refused, RefusedEntry
from opgen.model.tags import TagSet
from opgen.parse import codes_schema
from opgen.parse import codes_yaml as codes
from opgen.parse.entry_parser import parse_entry, refuse
from opgen.parse.file_header import SchemaFile, split_header
from opgen.parse.file_namespace import bare_namespaces, is_of_other_kind
from opgen.parse.key_readers import EntryContext
from opgen.parse.library_keywords import KEYWORDS
from opgen.parse.names import shorten
from opgen.parse.text_reader import SchemaCache
from opgen.parse.yaml_nodes import Node, SequenceNode, compose


@dataclass(frozen=True, slots=True)
class Parsed:
    """The operators of all files, and what is known of the entries that were reported.

    They are in the order of their file, and the files in the order of their least operator: in which order files are
    given means nothing.
    """

    functions: tuple[NativeFunction, ...]
    refused: Refused


@until_too_many(lambda: Parsed((), Refused(unknown=True)))
def parse_entries(
    sources: Sequence[Source],
    tags: TagSet,
    ignore_keys: Collection[DispatchKey],
    diagnostics: Diagnostics,
    cache: SchemaCache | None = None,
    *,
    strict_torchgen: bool = False,
    namespace: str | None = None,
    no_outless: str | None = None,
) -> Parsed:
    """What the files hold. What is wrong with an entry refuses the entry, not the file.

    With `strict_torchgen` opgen's extensions of the language are refused. `namespace` is that of operators that have
    none of their own, in files that say nothing of it. If only out variants can be structured, `no_outless` says where.
    """
    cache = SchemaCache() if cache is None else cache
    if strict_torchgen and no_outless is None:
        no_outless = "in torchgen's language"
    context = EntryContext(
        tags, ignore_keys, diagnostics, cache, strict_torchgen, no_outless=no_outless
    )
    if namespace is not None and (not is_library_name(namespace) or namespace in KEYWORDS):
        message = f"'{shorten(namespace)}' cannot be a namespace of operators"
        hint = "letters, digits and '_', and no keyword of C++ or of PyTorch's schema parser"
        diagnostics.error(codes_schema.E0303, message, None, hint=hint)
        namespace = None
    read = [_read_file(source, context) for source in sources]
    names = bare_namespaces([file.schema_file for file in read], namespace, context)
    files = [_parse_file(file, context, name) for file, name in zip(read, names)]
    found = [entry for entries in sorted(files, key=_least_operator) for entry in entries]
    return Parsed(
        tuple(f for f in found if isinstance(f, NativeFunction)),
        Refused(tuple(e for e in found if isinstance(e, RefusedEntry)), unknown=None in found),
    )


def parse_native_functions(
    sources: Sequence[Source],
    tags: TagSet,
    ignore_keys: Collection[DispatchKey],
    diagnostics: Diagnostics,
    cache: SchemaCache | None = None,
    *,
    namespace: str | None = "aten",
) -> tuple[NativeFunction, ...]:
    """The operators of all files, as in `Parsed`, without the entries that were reported.

    Those without a namespace are in `namespace`.
    """
    parsed = parse_entries(sources, tags, ignore_keys, diagnostics, cache, namespace=namespace)
    return parsed.functions


def _least_operator(entries: Iterable[NativeFunction | RefusedEntry | None]) -> str:
    return min((e.full_name for e in entries if isinstance(e, NativeFunction)), default="")


class _ReadFile(NamedTuple):
    """A file of entries as YAML. `bad` is where it has errors already; None of a file that cannot be read."""

    schema_file: SchemaFile
    bad: list[int] | None


def _read_file(source: Source, context: EntryContext) -> _ReadFile:
    diagnostics = context.diagnostics
    before = len(diagnostics)
    root = compose(source, diagnostics, strict_torchgen=context.strict_torchgen)
    if root is None and len(diagnostics) > before:
        return _ReadFile(SchemaFile(), None)
    if not isinstance(root, SequenceNode):
        if is_of_other_kind(root, source, diagnostics):
            return _ReadFile(SchemaFile(), None)
        message = "a schema file is a list of entries"
        span = source.start if root is None else root.span
        hint = "write '[]' if there are none" if root is None else "each begins with '- func:'"
        diagnostics.error(codes.E0104, message, span, hint=hint)
        return _ReadFile(SchemaFile(), None)
    # What YAML already has against an entry: a key that is written twice, an alias of nothing.
    spans = diagnostics.error_spans() if len(diagnostics) > before else ()
    bad = [span.start for span in spans if span.source is source]
    file = split_header(root, diagnostics, strict_torchgen=context.strict_torchgen)
    return _ReadFile(file, bad)


def _parse_file(
    file: _ReadFile, context: EntryContext, namespace: str | None
) -> list[NativeFunction | RefusedEntry | None]:
    """The entries; None for each that nothing is known of, and for a file that cannot be read."""
    root, bad = file.schema_file.root, file.bad
    if root is None or bad is None or namespace is None:
        return [None]
    own = replace(context, header=file.schema_file.header, namespace=namespace)
    diagnostics = context.diagnostics
    errors_before = diagnostics.error_count - len(bad)
    entries = []
    may_be_other = True
    for node in file.schema_file.entries:
        entries.append(_parse_one(node, own, bad))
        if may_be_other and diagnostics.error_count > errors_before:
            if is_of_other_kind(root, root.source, diagnostics):
                return [None]
            may_be_other = False
    return entries


def _parse_one(
    node: Node, context: EntryContext, bad: list[int]
) -> NativeFunction | RefusedEntry | None:
    entry = parse_entry(node, context)
    if isinstance(entry, NativeFunction) and any(node.start <= at < node.end for at in bad):
        return refuse(entry)
    return entry
