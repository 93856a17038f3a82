"""The texts of native_functions.yaml files into NativeFunctions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics, Source, until_too_many
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.refused import Refused, RefusedEntry
from opgen.model.tags import TagSet
from opgen.parse import codes_yaml as codes
from opgen.parse.entry_parser import parse_entry, refuse
from opgen.parse.key_readers import EntryContext
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
) -> Parsed:
    """What the files hold. What is wrong with an entry refuses the entry, not the file.

    With `strict_torchgen` opgen's extensions of the language are refused.
    """
    cache = SchemaCache() if cache is None else cache
    context = EntryContext(tags, ignore_keys, diagnostics, cache, strict_torchgen)
    files = [_parse_file(source, context) for source in sources]
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
) -> tuple[NativeFunction, ...]:
    """The operators of all files, as in `Parsed`, without the entries that were reported."""
    return parse_entries(sources, tags, ignore_keys, diagnostics, cache).functions


def _least_operator(entries: Iterable[NativeFunction | RefusedEntry | None]) -> str:
    return min((e.full_name for e in entries if isinstance(e, NativeFunction)), default="")


def _parse_file(
    source: Source, context: EntryContext
) -> list[NativeFunction | RefusedEntry | None]:
    """The entries; None for each that nothing is known of, and for a file that cannot be read."""
    diagnostics = context.diagnostics
    before, errors_before = len(diagnostics), diagnostics.error_count
    root = compose(source, diagnostics)
    if root is None and len(diagnostics) > before:
        return [None]
    if not isinstance(root, SequenceNode):
        if _is_other(root, diagnostics, before):
            return [None]
        message = "a schema file is a list of entries"
        span = source.start if root is None else root.span
        hint = "write '[]' if there are none" if root is None else "each begins with '- func:'"
        diagnostics.error(codes.E0104, message, span, hint=hint)
        return [None]
    # What YAML already has against an entry: a key that is written twice, an alias of nothing.
    spans = diagnostics.error_spans() if len(diagnostics) > before else ()
    bad = [span.start for span in spans if span.source is source]
    entries = []
    may_be_other = True
    for node in root.items:
        entries.append(_parse_one(node, context, bad))
        if may_be_other and diagnostics.error_count > errors_before:
            if _is_other(root, diagnostics, before):
                return [None]
            may_be_other = False
    return entries


def _is_other(root: Node | None, diagnostics: Diagnostics, before: int) -> bool:
    """Whether the file is of another kind, which is then all that is reported of it."""
    # Loaded for files with errors alone.
    from opgen.parse.neighbours import report_neighbour  # noqa: PLC0415

    return report_neighbour(root, diagnostics, before, backend=False)


def _parse_one(
    node: Node, context: EntryContext, bad: list[int]
) -> NativeFunction | RefusedEntry | None:
    entry = parse_entry(node, context)
    if isinstance(entry, NativeFunction) and any(node.start <= at < node.end for at in bad):
        return refuse(entry)
    return entry
