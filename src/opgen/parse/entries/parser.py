"""Parse one entry of native_functions.yaml as a NativeFunction: read its keys, then check them together."""

from __future__ import annotations

from collections.abc import Collection

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import shorten
from opgen.model.dispatch_key import (
    STRUCTURED_DISPATCH_KEYS,
    UFUNC_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.function_schema import FunctionSchema, OperatorName, SchemaKind
from opgen.model.invalid_entries import InvalidEntry
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.profile import Profile
from opgen.parse.entries.checks import check_entry
from opgen.parse.entries.documentation import comment_documentation
from opgen.parse.entries.draft import Draft, default_kernel_name
from opgen.parse.entries.key_readers import EntryContext, read_keys
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
    check_entry(draft, diagnostics)
    if draft.func is None or len(diagnostics) > before:
        return _invalid_entry(draft)
    return _build(draft, draft.func, above)


def to_invalid_entry(f: NativeFunction) -> InvalidEntry:
    """Return the parts of an operator whose entry has an error that was found later."""
    return InvalidEntry(f.span, f.func.name.name.base, f.func.name, f.func, f.scope)


def _invalid_entry(draft: Draft) -> InvalidEntry | None:
    is_library = draft.profile is Profile.library
    scope = draft.namespace if is_library else ""
    if draft.func is not None:
        name = draft.func.name
        return InvalidEntry(draft.spans.schema_name(), name.name.base, name, draft.func, scope)
    node = draft.node("func")
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


def _documentation(draft: Draft, above: Node | None) -> str | None:
    if draft.doc is not None:
        return draft.doc
    profile = Profile.torchgen if draft.is_strict else draft.profile
    return comment_documentation(draft.spans.node, above, profile)


def _build(draft: Draft, func: FunctionSchema, above: Node | None) -> NativeFunction:
    dispatch = _kernels(draft, func)
    return NativeFunction(
        namespace=draft.namespace,
        func=func,
        variants=draft.variants,
        dispatch=dispatch,
        tags=frozenset(draft.tags),
        structured=draft.structured,
        structured_delegate=draft.structured_delegate,
        structured_inherits=draft.structured_inherits,
        precomputed=draft.precomputed,
        autogen=draft.autogen,
        ufunc_inner_loop=draft.ufunc_inner_loop,
        cpp_no_default_args=frozenset(draft.cpp_no_default_args),
        use_const_ref_for_mutable_tensors=draft.use_const_ref_for_mutable_tensors,
        manual_kernel_registration=draft.manual_kernel_registration,
        manual_cpp_binding=draft.manual_cpp_binding,
        device_guard=draft.device_guard,
        device_check=draft.device_check,
        python_module=draft.python_module,
        category_override=draft.category_override,
        is_abstract=_is_abstract(draft, dispatch),
        spans=draft.spans,
        includes=draft.includes,
        shares_namespace=draft.shares_namespace,
        fake=draft.fake,
        effects=draft.effects,
        alias_analysis=draft.alias_analysis,
        has_ignored_rows=len(draft.dispatch) < draft.dispatch_key_count,
        doc=_documentation(draft, above),
    )


def _kernels(draft: Draft, func: FunctionSchema) -> tuple[tuple[DispatchKey, Kernel], ...]:
    structured_keys = _structured_keys(draft, func)
    rows = [
        (row.key, Kernel(row.kernel, row.namespace, row.key in structured_keys, row.source))
        for row in draft.dispatch
    ]
    is_unstructured = not draft.structured and draft.structured_delegate is None
    if not draft.has_dispatch and is_unstructured:
        rows.append((_IMPLICIT, Kernel(default_kernel_name(func), None, structured=False)))
    if draft.ufunc_inner_loop:
        base = func.name.name.base
        rows.extend(
            (key, Kernel(f"ufunc_{base}_{key}", None, structured=True))
            for key in UFUNC_DISPATCH_KEYS
        )
    return tuple(rows)


def _structured_keys(draft: Draft, func: FunctionSchema) -> Collection[DispatchKey]:
    """Return the keys whose kernels are structured. Without an out variant, one kernel may serve all backends."""
    if not draft.structured:
        return ()
    if func.kind() is SchemaKind.out:
        return STRUCTURED_DISPATCH_KEYS
    return (*STRUCTURED_DISPATCH_KEYS, *_EXPLICIT)


def _is_abstract(draft: Draft, dispatch: tuple[tuple[DispatchKey, Kernel], ...]) -> bool:
    """Return whether backends must implement the operator: not if all its kernels are composite-implicit."""
    keys = {key for key, _ in dispatch}
    return draft.structured_delegate is not None or not keys or not keys <= {_IMPLICIT, _NESTED}
