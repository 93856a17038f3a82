"""Form view groups: a view, its in-place form, and the operator that copies instead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import only_near
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import BaseOperatorName, FunctionSchema, OperatorName, SchemaKind
from opgen.model.native_function import NativeFunction, ViewSchemaKind
from opgen.model.registry import NativeFunctionsViewGroup
from opgen.resolve.checks import Entries
from opgen.resolve.variants import Role, Variants, group_by_signature


def view_role(f: NativeFunction) -> Role:
    """Return the role of an operator: for a view by its aliasing, for any other by its kind."""
    kind = f.view_schema_kind
    return f.func.kind() if kind is ViewSchemaKind.non_aliasing else kind


def collect_view_variants(functions: Sequence[NativeFunction]) -> tuple[Variants, ...]:
    """Return one set for each view signature that a view or two names have, in order of first appearance.

    All others are sets of `collect_variants` already. They are nine of ten operators and more.
    """
    first: dict[str, str] = {}
    related: set[str] = set()
    for f in functions:
        name = _view_name(f)
        if name not in related and (
            first.setdefault(name, f.scoped_root) != f.scoped_root or f.is_view_op
        ):
            related.add(name)
    kept = [f for f in functions if _view_name(f) in related]
    sets = group_by_signature(kept, _view_name, lambda f: f.func.view_signature())
    return tuple(Variants.of(s, view_role) for s in sets)


def _view_name(f: NativeFunction) -> str:
    """Return the root name that a view and its copying form share."""
    return f.scoped_root.replace("_copy", "").replace("scatter", "inverse")


def find_view_group(variants: Variants) -> NativeFunctionsViewGroup | None:
    """Return the group of `variants`, if there is a view among them; else None."""
    view = variants.find(ViewSchemaKind.aliasing)
    if view is None:
        return None
    return NativeFunctionsViewGroup(
        view=view,
        view_copy=variants.find(SchemaKind.functional),
        view_inplace=variants.find(ViewSchemaKind.aliasing_inplace),
    )


def needs_view_copy(f: NativeFunction) -> bool:
    """Return whether a copying sibling must exist.

    Operators that decompose and in-place views need none. The sibling of a `*_inverse` has another name, as slice_scatter
    for slice_inverse. opgen cannot generate copies of several outputs; only structured views return several.
    """
    return (
        f.is_view_op
        and not (f.structured and len(f.func.returns) > 1)
        and not f.has_composite_implicit_autograd_kernel
        and "inplace_view" not in f.tags
        and not f.root_name.endswith("_inverse")
    )


_REVERSES = re.compile(r"flip|revers|mirror|backwards")
_DECOMPOSING = (
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
)


def check_view_variants(variants: Variants, entries: Entries, diagnostics: Diagnostics) -> None:
    """Report every rule about views that `variants` break. A library need not write the copying forms of its views."""
    if any(f.is_library for f in variants.by_role.values()):
        return
    for f in variants.duplicates:
        _role_is_free(f, variants, diagnostics)
    inplace = variants.find(ViewSchemaKind.aliasing_inplace)
    if inplace is not None:
        _inplace_view_is_tagged(inplace, entries, diagnostics)
    group = find_view_group(variants)
    if group is None:
        return
    base = group.view.func.name.name.base
    if entries.invalid.may_have_base(f"{base}_copy", base.replace("inverse", "scatter")):
        pass  # The copying form may be among the invalid entries.
    elif group.view_copy is None:
        _view_has_copy(group.view, entries, diagnostics)
    else:
        _copy_matches_view(group.view, group.view_copy, diagnostics)
    if group.view_inplace is not None:
        _inplace_matches_view(group.view, group.view_inplace, diagnostics)


def _inplace_view_is_tagged(f: NativeFunction, entries: Entries, diagnostics: Diagnostics) -> None:
    if "inplace_view" in f.tags:
        return
    name = f.func.name.name
    # Without it, the rule about the tag reports.
    has_view = entries.has_base_name(f, BaseOperatorName(name.base, False, name.dunder_method))
    message = f"'{f.func.name}' is an in-place view, so it needs the tag 'inplace_view'"
    labels = [
        (f.argument_type_span(a.name), "goes into the alias set '*'")
        for a in f.func.arguments.flat_all
        if a.annotation is not None and "*" in a.annotation.alias_set_after
    ]
    fix = f.spans.add_tag("inplace_view") if has_view else None
    diagnostics.error("E0601", message, f.span, labels=labels, fix=fix)


def _role_is_free(f: NativeFunction, variants: Variants, diagnostics: Diagnostics) -> None:
    role = view_role(f)
    other = variants.find(role)
    assert other is not None
    if f.func.kind() is other.func.kind() and f.func.signature() == other.func.signature():
        # The same operator twice: reported by the checks of variants.
        return
    signature = f.func.view_signature()
    is_view = isinstance(role, ViewSchemaKind)
    what = "are both the view" if is_view else "both belong to the view"
    message = f"'{f.func.name}' and '{other.func.name}' {what} '{signature.name}'"
    notes = [f"names are compared without '_copy': both are {signature}"]
    labels = [(other.span, "the other one")]
    code = "E0603" if is_view else "E0602"
    diagnostics.error(code, message, f.span, labels=labels, notes=notes)


def _view_has_copy(view: NativeFunction, entries: Entries, diagnostics: Diagnostics) -> None:
    if not needs_view_copy(view):
        return
    name = view.func.name
    base = BaseOperatorName(f"{name.name.base}_copy", False, name.name.dunder_method)
    schema = view.func.signature().with_name(OperatorName(base, name.overload_name))
    written = entries.by_name.get(str(schema.name))
    misspelt = None if written is not None else _similar_copy(view, schema, entries)
    if misspelt is not None and any(n.name.base == schema.name.name.base for n in misspelt.autogen):
        # 'autogen' and 'func' of that entry have different names, which is reported there.
        return
    message = f"'{view.func.name}' is a view, so it needs a sibling '{schema.name}' that copies"
    if misspelt is not None:
        # Which of the two names is right is unknown, so the schema of a third operator would not help.
        labels = [(misspelt.span, "is this its sibling?")]
        hint = f"one of the two names is misspelt: '{misspelt.func.name}' has its signature"
        diagnostics.error("E0604", message, view.span, labels=labels, hint=hint)
        return
    labels = [] if written is None else [(written.span, "has another signature")]
    notes = [f"its schema: {schema}"]
    if _REVERSES.search(view.func.name.name.base):
        notes.append(
            "no tensor has strides below zero, so no view reverses elements: "
            f"'{view.func.name}' has to return a new tensor, without '(a)'",
        )
    hint = "or give the view a CompositeImplicitAutograd kernel"
    diagnostics.error("E0604", message, view.span, labels=labels, notes=notes, hint=hint)


def _similar_copy(
    view: NativeFunction, schema: FunctionSchema, entries: Entries
) -> NativeFunction | None:
    """Return the operator that is the copying sibling of `view`, but for a similar name."""
    similar = {
        str(f.func.name): f
        for f in entries.functions
        if f.scope == view.scope
        and f.func.name.name.base.endswith("_copy")
        and f.func.signature().with_name(schema.name) == schema
    }
    near = only_near(str(schema.name), similar)
    return None if near is None else similar[near]


def _copy_matches_view(
    view: NativeFunction, copy: NativeFunction, diagnostics: Diagnostics
) -> None:
    labels = [(view.span, "the view")]
    is_copy = f"'{copy.func.name}' is the copying form of '{view.func.name}'"
    key, row = DispatchKey.CompositeExplicitAutogradNonFunctional, copy.spans.key("dispatch")
    if not copy.root_name.endswith(("_copy", "_scatter")):
        message, hint = f"{is_copy}, but has another name", "end its name in '_copy'"
        diagnostics.error("E0605", message, copy.span, labels=labels, hint=hint)
    elif view.func.signature() != copy.func.signature(strip_view_copy_name=True):
        _report_name(view, copy, diagnostics)
    elif "view_copy" not in copy.tags:
        message = f"{is_copy}, so it needs the tag 'view_copy'"
        fix = copy.spans.add_tag("view_copy")
        diagnostics.error("E0607", message, copy.span, labels=labels, fix=fix)
    elif (
        copy.func.name.name.base == f"{view.func.name.name}_copy" and copy.find_kernel(key) is None
    ):
        message = f"'{copy.func.name}' needs a kernel for {key}, which opgen writes"
        wanted = f"{key}: {copy.func.name.name}"
        fix = copy.spans.add_key(f"dispatch:\n  {wanted}") if row == copy.span else None
        diagnostics.error("E0609", message, row, labels=labels, hint=f"add '{wanted}'", fix=fix)


def _inplace_matches_view(
    view: NativeFunction, inplace: NativeFunction, diagnostics: Diagnostics
) -> None:
    if view.func.signature() != inplace.func.signature():
        _report_name(view, inplace, diagnostics)
    for key in _DECOMPOSING:
        if view.find_kernel(key) is not None and inplace.find_kernel(key) is None:
            message = (
                f"'{view.func.name}' has a {key} kernel, so '{inplace.func.name}' needs one too"
            )
            diagnostics.error("E0608", message, inplace.span, labels=[(view.span, "the view")])


def _report_name(view: NativeFunction, f: NativeFunction, diagnostics: Diagnostics) -> None:
    message = f"the name of the view '{view.func.name}' must not end like that of a copy"
    diagnostics.error("E0606", message, view.span, labels=[(f.span, "would be its sibling")])
