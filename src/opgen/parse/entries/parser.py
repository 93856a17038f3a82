"""Parse one entry of native_functions.yaml as a NativeFunction: read its keys, then check them together."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import shorten
from opgen.model.dispatch_key import (
    STRUCTURED_DISPATCH_KEYS,
    UFUNC_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.function_schema import OperatorName, SchemaKind
from opgen.model.invalid_entries import InvalidEntry
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.profile import Profile
from opgen.parse.entries.doc_comments import comment_documentation
from opgen.parse.entries.draft import Draft, EntryContext, default_kernel_name
from opgen.parse.entries.key_readers import read_keys
from opgen.parse.entries.rules import check_entry
from opgen.parse.schema.grammar import SchemaReader
from opgen.parse.schema.text import SchemaText
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, describe

_IMPLICIT = DispatchKey.CompositeImplicitAutograd
_NESTED = DispatchKey.CompositeImplicitAutogradNestedTensor
_EXPLICIT = (
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


def parse_entry(
    node: Node, context: EntryContext, above: Node | None = None
) -> NativeFunction | InvalidEntry | None:
    """Parse the operator that `node` describes. `above` is the item above it.

    If it has errors, which are reported, return the parts that could be read; None if not even its name could.
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
    return _invalid_entry(draft) if len(diagnostics) > before else _completed(f, draft, above)


def to_invalid_entry(f: NativeFunction) -> InvalidEntry:
    """Return the parts of an operator whose entry has an error that was found later."""
    return InvalidEntry(f.span, f.func.name.name.base, f.func.name, f.func, f.scope)


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
    structured_keys = _structured_keys(f)
    for key, kernel in f.dispatch:
        yield key, replace(kernel, structured=True) if key in structured_keys else kernel
    if not has_table and not f.part_of_structured_group:
        yield _IMPLICIT, Kernel(default_kernel_name(f.func), None, structured=False)
    if f.ufunc_inner_loop:
        for key in UFUNC_DISPATCH_KEYS:
            yield key, Kernel(f"ufunc_{f.root_name}_{key}", None, structured=True)


def _structured_keys(f: NativeFunction) -> Collection[DispatchKey]:
    """Return the keys whose kernels are structured. Without an out variant, one kernel may serve all backends."""
    if not f.structured:
        return ()
    if f.func.kind() is SchemaKind.out:
        return STRUCTURED_DISPATCH_KEYS
    return (*STRUCTURED_DISPATCH_KEYS, *_EXPLICIT)
