"""Form view groups: a view, its in-place form, and the operator that copies instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction, ViewSchemaKind
from opgen.model.registry import NativeFunctionsViewGroup
from opgen.resolve.variants import group_by_signature, split_by_role

ViewRole: TypeAlias = ViewSchemaKind | SchemaKind


class ViewVariants(Struct, frozen=True):
    """The operators of one view signature by role, in order of appearance.

    `duplicates` are those whose role was taken already.
    """

    by_role: Mapping[ViewRole, NativeFunction]
    duplicates: tuple[NativeFunction, ...] = ()

    def find(self, role: ViewRole) -> NativeFunction | None:
        return self.by_role.get(role)


def view_role(f: NativeFunction) -> ViewRole:
    """Return the role of an operator: for a view by its aliasing, for any other by its kind."""
    kind = f.view_schema_kind
    return f.func.kind() if kind is ViewSchemaKind.non_aliasing else kind


def collect_view_variants(functions: Sequence[NativeFunction]) -> tuple[ViewVariants, ...]:
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
    return tuple(ViewVariants(*split_by_role(s, view_role)) for s in sets)


def _view_name(f: NativeFunction) -> str:
    """Return the root name that a view and its copying form share."""
    return f.scoped_root.replace("_copy", "").replace("scatter", "inverse")


def find_view_group(variants: ViewVariants) -> NativeFunctionsViewGroup | None:
    """Return the group of `variants`, if there is a view among them; else None."""
    view = variants.find(ViewSchemaKind.aliasing)
    if view is None:
        return None
    return NativeFunctionsViewGroup(
        view=view,
        view_copy=variants.find(SchemaKind.functional),
        view_inplace=variants.find(ViewSchemaKind.aliasing_inplace),
    )


def collect_view_groups(sets: Iterable[ViewVariants]) -> tuple[NativeFunctionsViewGroup, ...]:
    """Return all view groups, in order of first appearance of their signatures."""
    return tuple(group for v in sets if (group := find_view_group(v)) is not None)


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
