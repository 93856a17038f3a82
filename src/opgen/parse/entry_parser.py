"""One entry of native_functions.yaml into a NativeFunction: its keys are read, then judged together."""

from __future__ import annotations

from collections.abc import Collection

from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import (
    STRUCTURED_DISPATCH_KEYS,
    UFUNC_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.function_schema import FunctionSchema, OperatorName, SchemaKind
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.profile import Profile
from opgen.model.refused import RefusedEntry
from opgen.parse import codes_yaml
from opgen.parse.draft import Draft, default_kernel_name
from opgen.parse.entry_checks import check_entry
from opgen.parse.key_readers import EntryContext, read_keys
from opgen.parse.schema_parser import SchemaReader
from opgen.parse.yaml_nodes import MappingNode, Node, ScalarNode, describe

_IMPLICIT = DispatchKey.CompositeImplicitAutograd
_NESTED = DispatchKey.CompositeImplicitAutogradNestedTensor
_EXPLICIT = (
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


def parse_entry(node: Node, context: EntryContext) -> NativeFunction | RefusedEntry | None:
    """The operator that `node` describes.

    If anything about it was reported, what is known of it; None if that is not even its name.
    """
    diagnostics = context.diagnostics
    before = len(diagnostics)
    if not isinstance(node, MappingNode):
        message = f"an entry is a mapping that begins with 'func:', not {describe(node)}"
        diagnostics.error(codes_yaml.E0105, message, node.span)
        return None
    draft = read_keys(node, context)
    check_entry(draft, diagnostics)
    if draft.func is None or len(diagnostics) > before:
        return _refused(draft)
    return _build(draft, draft.func)


def refuse(f: NativeFunction) -> RefusedEntry:
    """What is known of an operator whose entry was found to have an error."""
    return RefusedEntry(f.span, f.func.name.name.base, f.func.name, f.func, f.scope)


def _refused(draft: Draft) -> RefusedEntry | None:
    is_library = draft.profile is Profile.library
    scope = draft.namespace if is_library else ""
    if draft.func is not None:
        name = draft.func.name
        return RefusedEntry(draft.spans.schema_name(), name.name.base, name, draft.func, scope)
    node = draft.node("func")
    if not isinstance(node, ScalarNode):
        return None
    written = node.value.partition("(")[0].rpartition("::")[2].strip()
    found = _find_name(written, is_library)
    base = found or _find_name(written.partition(".")[0], is_library)
    if base is None:
        return None
    return RefusedEntry(draft.spans.schema_name(), base.name.base, found, scope=scope)


def _find_name(text: str, is_library: bool) -> OperatorName | None:
    # What is wrong with it is reported already.
    return SchemaReader(text, Diagnostics()).operator_name(0, len(text), allow_out=is_library)


def _build(draft: Draft, func: FunctionSchema) -> NativeFunction:
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
    )


def _kernels(draft: Draft, func: FunctionSchema) -> tuple[tuple[DispatchKey, Kernel], ...]:
    of_structured = _structured_keys(draft, func)
    rows = [
        (row.key, Kernel(row.kernel, row.namespace, row.key in of_structured, row.source))
        for row in draft.dispatch
    ]
    plain = not draft.structured and draft.structured_delegate is None
    if not draft.has_dispatch and plain:
        rows.append((_IMPLICIT, Kernel(default_kernel_name(func), None, structured=False)))
    if draft.ufunc_inner_loop:
        base = func.name.name.base
        rows.extend(
            (key, Kernel(f"ufunc_{base}_{key}", None, structured=True))
            for key in UFUNC_DISPATCH_KEYS
        )
    return tuple(rows)


def _structured_keys(draft: Draft, func: FunctionSchema) -> Collection[DispatchKey]:
    """The keys whose kernels are structured. Without an out variant one may serve every backend."""
    if not draft.structured:
        return ()
    if func.kind() is SchemaKind.out:
        return STRUCTURED_DISPATCH_KEYS
    return (*STRUCTURED_DISPATCH_KEYS, *_EXPLICIT)


def _is_abstract(draft: Draft, dispatch: tuple[tuple[DispatchKey, Kernel], ...]) -> bool:
    """Whether backends have to implement it: not if composite-implicit kernels are all it has."""
    keys = {key for key, _ in dispatch}
    return draft.structured_delegate is not None or not keys or not keys <= {_IMPLICIT, _NESTED}
