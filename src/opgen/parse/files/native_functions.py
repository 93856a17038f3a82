"""Parse native_functions.yaml files as NativeFunctions: the keys of each entry are read, then checked together.

Also tags.yaml, as the set of tags that entries may have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from opgen import data
from opgen.diagnostics import Diagnostics, Source, until_too_many
from opgen.diagnostics.suggestions import shorten
from opgen.model.cpp_words import is_identifier, is_library_name
from opgen.model.dispatch_key import STRUCTURED_DISPATCH_KEYS, UFUNC_DISPATCH_KEYS, DispatchKey
from opgen.model.function_schema import OperatorName, SchemaKind
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.profile import ATEN, Profile, Tag, TagSet
from opgen.model.registry import InvalidEntries, InvalidEntry
from opgen.parse.entries.comments import comment_documentation
from opgen.parse.entries.draft import Draft, EntryContext, default_kernel_name
from opgen.parse.entries.header import DERIVATIVES_KEYS, SchemaFile, split_header
from opgen.parse.entries.key_readers import read_keys
from opgen.parse.entries.rules import check_entry
from opgen.parse.schema.grammar import SchemaCache, SchemaReader
from opgen.parse.schema.text import KEYWORDS, SchemaText
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose, describe
from opgen.parse.yaml.values import report_derivatives, report_other_kind

_IMPLICIT = DispatchKey.CompositeImplicitAutograd
_NESTED = DispatchKey.CompositeImplicitAutogradNestedTensor
_EXPLICIT = (
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


def _parse_entry(
    node: Node, context: EntryContext, error_offsets: Iterable[int], above: Node | None
) -> NativeFunction | InvalidEntry | None:
    """Parse the operator that `node` describes. `above` is the item above it.

    If it has errors, which are reported, or one of the `error_offsets` of the file's YAML is in it, return the parts that
    could be read; None if not even its name could.
    """
    diagnostics = context.diagnostics
    before = len(diagnostics)
    if not isinstance(node, MappingNode):
        message = f"an entry is a mapping that begins with 'func:', not {describe(node)}"
        schema = node.value if isinstance(node, ScalarNode) and "(" in node.value else None
        hint = None if schema is None else f"write '- func: {shorten(schema)}'"
        diagnostics.error("E0105", message, node.span, hint=hint)
        return None
    draft = read_keys(node, context)
    if draft.func is None:
        return _invalid_entry(draft)
    f = draft.function(draft.func)
    check_entry(draft, f)
    is_invalid = any(node.start <= offset < node.end for offset in error_offsets)
    is_invalid |= len(diagnostics) > before
    return _invalid_entry(draft) if is_invalid else _completed(f, draft, above)


def _invalid_entry(draft: Draft) -> InvalidEntry | None:
    is_library = draft.profile is Profile.library
    scope = draft.namespace if is_library else ""
    if draft.func is not None:
        name = draft.func.name
        return InvalidEntry(draft.spans.schema_name(), name.name.base, name, draft.func, scope)
    node = draft.spans.node.get("func")
    if not isinstance(node, ScalarNode):
        return None
    written = node.value.partition("(")[0].rpartition("::")[2].strip()
    name_or_none = _parse_name(written, is_library)
    base = name_or_none or _parse_name(written.partition(".")[0], is_library)
    if base is None:
        return None
    return InvalidEntry(draft.spans.schema_name(), base.name.base, name_or_none, scope=scope)


def _parse_name(text: str, is_library: bool) -> OperatorName | None:
    # Its errors have been reported.
    at = SchemaText(text, Diagnostics())
    return SchemaReader(at).operator_name(0, len(text), allow_out=is_library)


def _completed(f: NativeFunction, draft: Draft, above: Node | None) -> NativeFunction:
    """Return an operator with what the entry only implies: kernels, and documentation in a comment."""
    dispatch = tuple(_kernels(f, has_table=draft.is_written("dispatch")))
    keys = {key for key, _ in dispatch}
    doc = f.doc
    if doc is None:
        profile = Profile.torchgen if draft.context.strict_torchgen else draft.profile
        doc = comment_documentation(draft.spans.node, above, profile)
    is_abstract = f.structured_delegate is not None or not keys or not keys <= {_IMPLICIT, _NESTED}
    return replace(f, dispatch=dispatch, doc=doc, is_abstract=is_abstract)


def _kernels(f: NativeFunction, *, has_table: bool) -> Iterator[tuple[DispatchKey, Kernel]]:
    structured_keys: Collection[DispatchKey] = ()
    if f.structured:
        # Without an out variant, one kernel may serve all backends.
        others = () if f.func.kind() is SchemaKind.out else _EXPLICIT
        structured_keys = (*STRUCTURED_DISPATCH_KEYS, *others)
    for key, kernel in f.dispatch:
        yield key, replace(kernel, structured=True) if key in structured_keys else kernel
    if not has_table and not f.part_of_structured_group:
        yield _IMPLICIT, Kernel(default_kernel_name(f.func), None, structured=False)
    if f.ufunc_inner_loop:
        for key in UFUNC_DISPATCH_KEYS:
            yield key, Kernel(f"ufunc_{f.root_name}_{key}", None, structured=True)


# All of PyTorch's own files since release 1.0 have this schema, and identify themselves by it.
_SCHEMA_OF_PYTORCH = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def _default_namespaces(
    files: Sequence[SchemaFile], default: str | None, context: EntryContext
) -> list[str | None]:
    """Return for each file the namespace of operators written without one.

    That is the namespace of the file's header, else `default`. It is `aten` with `strict_torchgen`, and without a
    `default` if one of the files is PyTorch's own. Otherwise the missing namespace is reported, once per file. None for
    a file of another kind, which is reported instead.
    """
    bare = [list(_schemas_without_namespace(file.entries)) for file in files]
    if context.strict_torchgen or (
        default is None
        and any(node.value == _SCHEMA_OF_PYTORCH for nodes in bare for node in nodes)
    ):
        default = ATEN
    guess: str | None = None
    namespaces: list[str | None] = []
    for file, nodes in zip(files, bare):
        namespace = file.header.namespace or default
        items = file.root.items if file.root is not None else ()
        mappings = (node for node in items if isinstance(node, MappingNode))
        below = (node for node in mappings if node.get("namespace") is not None)
        # If an entry or a later item sets the namespace, that is reported at its place.
        if namespace is None and nodes and next(below, None) is None:
            if report_other_kind(nodes[0].source, context.diagnostics):
                namespaces.append(None)
                continue
            # The name of the file if that is possible.
            stem = PurePath(nodes[0].source.path).stem
            is_possible = is_library_name(stem) and stem != "native_functions"
            guess = guess or (stem if is_possible else "mylib")
            _report(nodes, guess, context)
        namespaces.append(namespace or guess or ATEN)
    return namespaces


def _report(bare: Sequence[ScalarNode], guess: str, context: EntryContext) -> None:
    first = bare[0]
    name = shorten(first.value.partition("(")[0].strip())
    others = len(bare) - 1
    besides = f", and {others} more in this file" if others else ""
    message = f"'{name}'{besides} {'have' if others else 'has'} no namespace"
    notes = [
        f"or begin the file with '- namespace: {guess}', or pass --namespace {guess}",
        "PyTorch's own operators are in 'aten': pass --namespace aten for a file with them",
    ]
    names = [node.value.partition("(")[0].strip().split(".") for node in bare]
    found = next((parts[0] for parts in names if len(parts) == 3), None)
    dotted = found if found is not None and names[0][0] == found and len(names[0]) > 1 else None
    if dotted is None:
        hint = f"write '{guess}::{shorten(first.value)}'"
    else:
        hint = f"'::' follows a namespace: write '{shorten(name.replace(f'{dotted}.', f'{dotted}::', 1))}'"
        notes = []
    span = first.part(0, len(first.value.partition("(")[0]))
    context.diagnostics.error("E0328", message, span, hint=hint, notes=notes)


def _schemas_without_namespace(entries: Iterable[Node]) -> Iterator[ScalarNode]:
    for node in entries:
        func = node.get("func") if isinstance(node, MappingNode) else None
        if isinstance(func, ScalarNode) and "::" not in func.value.partition("(")[0]:
            yield func


# The entries of a file that are looked at to recognise its kind.
_MOST_ENTRIES = 1000


class Parsed(Struct, frozen=True):
    """The operators of all files, and what could be read of entries with errors.

    Operators have the order of their file. Files are sorted by their alphabetically first operator, so that the order
    in which they are passed does not matter.
    """

    functions: tuple[NativeFunction, ...]
    invalid: InvalidEntries


@until_too_many(lambda: Parsed((), InvalidEntries(unknown=True)))
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
    """Parse the entries of all files. An entry with errors is left out of the functions; the others are kept.

    With `strict_torchgen`, opgen's extensions of the language are errors. `namespace` is that of operators written
    without one, in files whose header does not set it. `no_outless` is not None if only out variants can be structured;
    it then ends the message, such as "in torchgen's language".
    """
    cache = SchemaCache() if cache is None else cache
    if strict_torchgen and no_outless is None:
        no_outless = "in torchgen's language"
    context = EntryContext(
        tags, ignore_keys, diagnostics, cache, strict_torchgen, no_outless=no_outless
    )
    if namespace is not None and (not is_library_name(namespace) or namespace in KEYWORDS):
        message = f"'{shorten(namespace)}' cannot be a namespace of operators"
        hint = "use letters, digits and '_', but no keyword of C++ or of PyTorch's schema parser"
        diagnostics.error("E0303", message, None, hint=hint)
        namespace = None
    read = [_read_file(source, context) for source in sources]
    namespaces = _default_namespaces(read, namespace, context)
    files = [_parse_file(file, context, own) for file, own in zip(read, namespaces)]
    parsed = [entry for entries in sorted(files, key=_first_operator) for entry in entries]
    return Parsed(
        tuple(f for f in parsed if isinstance(f, NativeFunction)),
        InvalidEntries(
            tuple(e for e in parsed if isinstance(e, InvalidEntry)), unknown=None in parsed
        ),
    )


def _first_operator(entries: Iterable[NativeFunction | InvalidEntry | None]) -> str:
    return min((e.full_name for e in entries if isinstance(e, NativeFunction)), default="")


def _read_file(source: Source, context: EntryContext) -> SchemaFile:
    diagnostics = context.diagnostics
    before = len(diagnostics)
    root = compose(source, diagnostics, strict_torchgen=context.strict_torchgen)
    if root is None and len(diagnostics) > before:
        return SchemaFile()
    if not isinstance(root, SequenceNode):
        if report_other_kind(source, diagnostics):
            return SchemaFile()
        message = "a schema file is a list of entries"
        span = source.start if root is None else root.span
        hint = "write '[]' if there are none" if root is None else "each begins with '- func:'"
        diagnostics.error("E0104", message, span, hint=hint)
        return SchemaFile()
    # Errors inside entries: a key that is written twice, an alias without an anchor.
    spans = diagnostics.error_spans() if len(diagnostics) > before else ()
    offsets = tuple(span.start for span in spans if span.source is source)
    if _has_formulas(root) and report_derivatives(root.span, diagnostics):
        return SchemaFile()
    file = split_header(root, diagnostics, strict_torchgen=context.strict_torchgen)
    return replace(file, error_offsets=offsets)


def _has_formulas(root: SequenceNode) -> bool:
    """Return whether a file is a derivatives.yaml: all entries, after a header, have a name and no schema."""
    entries = [node for node in root.items if isinstance(node, MappingNode)]
    keys = [{key.value for key, _ in node.pairs} for node in entries[:_MOST_ENTRIES]]
    has_header = bool(keys) and not keys[0].isdisjoint(DERIVATIVES_KEYS) and "name" not in keys[0]
    named = keys[1:] if has_header else keys
    return bool(named) and all("name" in own and own.isdisjoint(("func", "aten")) for own in named)


def _parse_file(
    file: SchemaFile, context: EntryContext, namespace: str | None
) -> list[NativeFunction | InvalidEntry | None]:
    """Parse the entries. None stands for an entry whose name is unknown, and for a file that cannot be read."""
    if file.root is None or namespace is None:
        return [None]
    own_context = replace(context, header=file.header, namespace=namespace)
    diagnostics = context.diagnostics
    errors_before = diagnostics.error_count - len(file.error_offsets)
    entries = []
    may_be_of_other_kind = True
    above: Node | None = None
    for node in file.entries:
        entries.append(_parse_entry(node, own_context, file.error_offsets, above))
        above = node
        if may_be_of_other_kind and diagnostics.error_count > errors_before:
            if report_other_kind(file.root.source, diagnostics):
                return [None]
            may_be_of_other_kind = False
    return entries


@until_too_many(lambda: TagSet(()))
def parse_tags(source: Source, diagnostics: Diagnostics) -> TagSet:
    """Parse the tags that `source` declares. The first declaration of a name counts."""
    root = compose(source, diagnostics)
    if root is None:
        return TagSet(())
    if not isinstance(root, SequenceNode):
        diagnostics.error("E0104", "tags.yaml is a list of tags", root.span)
        return TagSet(())
    tags: dict[str, Tag] = {}
    for item in root.items:
        tag = _parse_tag(item, diagnostics)
        if tag is not None:
            tags.setdefault(tag.name, tag)
    return TagSet(tuple(tags.values()))


def builtin_tags() -> TagSet:
    """Return PyTorch's tags, the default without a tags.yaml."""
    diagnostics = Diagnostics()
    tags = parse_tags(Source("opgen/data/tags.yaml", data.read_text("tags.yaml")), diagnostics)
    assert not diagnostics.has_errors
    return tags


def _parse_tag(node: Node, diagnostics: Diagnostics) -> Tag | None:
    if not isinstance(node, MappingNode):
        diagnostics.error("E0105", "an entry is a mapping with 'tag' and 'desc'", node.span)
        return None
    name, desc = node.get("tag"), node.get("desc")
    for key, value in (("tag", name), ("desc", desc)):
        if not isinstance(value, ScalarNode) or not value.value or value.kind == "null":
            message = f"'{key}' is missing" if value is None else f"'{key}' is not a string"
            diagnostics.error("E0111", message, node.span if value is None else value.span)
            return None
    assert isinstance(name, ScalarNode) and isinstance(desc, ScalarNode)
    if not is_identifier(name.value):
        message = f"'{shorten(name.value)}' is not the name of a tag"
        diagnostics.error("E0111", message, name.span, hint="letters, digits and '_'")
        return None
    return Tag(name.value, desc.value)
