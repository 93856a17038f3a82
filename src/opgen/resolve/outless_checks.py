"""Check structured operators without an out variant, one function per rule: E0530 to E0535."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.registry import OutlessGroup
from opgen.resolve.checks import Entries
from opgen.resolve.group_checks import Completed, add_delegate

_DECOMPOSES = "it has a kernel for each backend, or for all by CompositeExplicitAutograd"
_NOT_STRUCTURED = {
    DispatchKey.CompositeImplicitAutograd: _DECOMPOSES,
    DispatchKey.CompositeImplicitAutogradNestedTensor: _DECOMPOSES,
    DispatchKey.Meta: "its meta function serves for that",
}


def check_structured_beside_out(variants: Completed, diagnostics: Diagnostics) -> None:
    """Report a functional operator that is structured, although its out variant should be."""
    functional = variants.all.find(SchemaKind.functional)
    out = variants.all.find(SchemaKind.out)
    if functional is None or out is None or not functional.structured:
        return
    generated = "generated" in out.tags
    diagnostics.error(
        "E0530",
        f"'{functional.func.name}' is structured, but it has the out variant '{out.func.name}'",
        functional.spans.key("structured"),
        labels=[(variants.autogen_span if generated else out.span, "the out variant")],
        hint=(
            "remove 'autogen'"
            if generated
            else f"write 'structured_delegate: {out.func.name}', and 'structured: True' there"
        ),
    )


def check_outless_group(group: OutlessGroup, entries: Entries, diagnostics: Diagnostics) -> None:
    """Report every rule that this group breaks."""
    _kernels_are_of_backends(group, diagnostics)
    _is_registered(group, diagnostics)
    if _views_have_one_base(group, diagnostics):
        _new_tensors_are_filled(group, diagnostics)
    _precomputed_is_received(group, diagnostics)
    if group.inplace is not None:
        _inplace_delegates(group, group.inplace, entries, diagnostics)
        _inplace_is_alike(group, group.inplace, diagnostics)


def _kernels_are_of_backends(group: OutlessGroup, diagnostics: Diagnostics) -> None:
    f = group.functional
    for key, reason in _NOT_STRUCTURED.items():
        if f.find_kernel(key) is not None:
            diagnostics.error(
                "E0516",
                f"'{f.func.name}' is structured, so it cannot have a kernel for {key}",
                f.spans.dispatch_key(key),
                hint=reason,
            )


def _is_registered(group: OutlessGroup, diagnostics: Diagnostics) -> None:
    for f in group.functions():
        if f.manual_kernel_registration:
            message = f"'{f.func.name}' is structured, so it cannot be registered by hand"
            span = f.spans.key("manual_kernel_registration")
            diagnostics.error("E0518", message, span)


def _views_have_one_base(group: OutlessGroup, diagnostics: Diagnostics) -> bool:
    f = group.functional
    sound = True
    for index, value in enumerate(f.func.returns):
        found = group.base_candidates(value)
        if value.annotation is None or len(found) == 1:
            continue
        sound = False
        names = [f.func.arguments.flat_all[i].name for i in found]
        of = " and ".join(f"'{name}'" for name in names) or "no argument that is a Tensor"
        diagnostics.error(
            "E0532",
            f"'{f.func.name}' is structured, and this output is a view of {of}",
            f.return_span(index),
            labels=[(f.argument_type_span(name), "may be viewed") for name in names],
        )
    return sound


def _new_tensors_are_filled(group: OutlessGroup, diagnostics: Diagnostics) -> None:
    f = group.functional
    if (
        group.all_views
        or f.manual_kernel_registration
        or any(kernel.structured for _, kernel in f.dispatch)
    ):
        return
    index = next(i for i, r in enumerate(f.func.returns) if r.annotation is None)
    diagnostics.error(
        "E0531",
        f"'{f.func.name}' is structured and returns a new tensor, but no kernel fills it",
        f.spans.key("structured"),
        labels=[(f.return_span(index), "a new tensor")],
        hint=(
            "name a kernel under 'dispatch:', for CPU or, made of other operators, for"
            " CompositeExplicitAutograd"
        ),
    )


def _precomputed_is_received(group: OutlessGroup, diagnostics: Diagnostics) -> None:
    f = group.functional
    if f.precomputed is None or any(kernel.structured for _, kernel in f.dispatch):
        return
    # New tensors without a kernel are already reported.
    if group.all_views:
        message = f"'{f.func.name}' has no kernel that could receive what is precomputed"
        span = f.spans.key("precomputed")
        fix = f.spans.remove_key("precomputed")
        diagnostics.error("E0534", message, span, hint="remove 'precomputed'", fix=fix)


def _inplace_delegates(
    group: OutlessGroup, inplace: NativeFunction, entries: Entries, diagnostics: Diagnostics
) -> None:
    if inplace.structured_delegate == group.functional.func.name:
        return
    if inplace.structured_delegate is not None and not entries.has_structured_delegate(inplace):
        # The delegate itself is invalid, and already reported.
        return
    diagnostics.error(
        "E0535",
        f"'{group.functional.func.name}' is structured, but '{inplace.func.name}' does not delegate"
        " to it",
        inplace.span,
        labels=[(group.functional.spans.key("structured"), "structured here")],
        hint=f"add 'structured_delegate: {group.functional.func.name}'",
        fix=add_delegate(inplace, group.functional),
    )


def _inplace_is_alike(
    group: OutlessGroup, inplace: NativeFunction, diagnostics: Diagnostics
) -> None:
    """Report an in-place form that is a view while the functional one is not, or the reverse.

    An in-place form of a view is an in-place view, which the rules about views check.
    """
    if group.has_views == ("inplace_view" in inplace.tags) and (
        not group.has_views or len(group.functional.func.returns) == 1
    ):
        return
    name = group.functional.func.name
    makes = "makes views" if group.has_views else "makes a new tensor"
    lays_out = (
        "changes the sizes or strides of its argument"
        if not group.has_views
        else "writes its argument"
    )
    diagnostics.error(
        "E0533",
        f"'{inplace.func.name}' {lays_out}, but '{name}' {makes}",
        inplace.span,
        labels=[(group.functional.span, makes)],
        hint=("add the tag 'inplace_view'" if group.has_views else "remove the tag 'inplace_view'"),
    )
