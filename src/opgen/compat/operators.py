"""Compare all operators of two versions, and find the breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from opgen.compat.breaks import BACKWARD, BOTH, Break, BreakKind, Direction
from opgen.compat.schema_rules import Versions, compare_schemas
from opgen.model.native_function import NativeFunction, Variant

_NO_VERDICT: frozenset[Direction] = frozenset()


def compare_operators(
    old: Iterable[NativeFunction], new: Iterable[NativeFunction]
) -> tuple[Break, ...]:
    """Return all breaks, in the order of the old operators. New operators break nothing."""
    old = tuple(old)
    before = {f.full_name for f in old}
    after = {f.full_name: f for f in new}
    bases = {_base_name(f) for f in after.values()}
    moved: dict[str, list[str]] = {}
    for f in after.values():
        if f.full_name not in before:
            moved.setdefault(str(f.func.name), []).append(f.full_name)
    return tuple(
        item
        for f in old
        for item in (
            compare_operator(f, after[f.full_name])
            if f.full_name in after
            else (_removed(f, bases, moved.get(str(f.func.name), ())),)
        )
    )


def compare_operator(old: NativeFunction, new: NativeFunction) -> tuple[Break, ...]:
    """Return the breaks between two versions of one operator."""
    versions = Versions(old, new)
    return (
        *compare_schemas(versions),
        *_lost_composite_kernel(versions),
        *_removed_variants(versions),
        *_moved_python_module(versions),
    )


def is_compatible(old: NativeFunction, new: NativeFunction, direction: Direction) -> bool:
    """Return the verdict of `torch.FunctionSchema` on the two schemas."""
    if old.full_name != new.full_name:
        return False
    return not any(direction in item.verdicts for item in compare_schemas(Versions(old, new)))


def _base_name(f: NativeFunction) -> str:
    return f"{f.namespace}::{f.func.name.name}"


def _removed(f: NativeFunction, bases: Collection[str], moved: Sequence[str]) -> Break:
    """Return the break of a removed operator. `moved` are new operators with its name in other namespaces."""
    if _base_name(f) in bases:
        kind, message = BreakKind.removed_overload, f"overload '{f.full_name}' was removed"
    else:
        kind, message = BreakKind.removed_operator, f"operator '{f.full_name}' was removed"
        if moved:
            message += f"; for callers, '{moved[0]}' is another operator"
    return Break(f.full_name, kind, message, str(f.func), "", f.span, None, BOTH)


def _attribute(
    versions: Versions, kind: BreakKind, message: str, old: str, new: str, key: str
) -> Break:
    """Return a break outside of the schemas, in the entry's `key`."""
    spans = (versions.old.spans.key(key), versions.new.spans.key(key))
    return versions.break_(kind, message, (old, new), spans, _NO_VERDICT, BACKWARD)


def _lost_composite_kernel(versions: Versions) -> Iterator[Break]:
    if _serves_every_backend(versions.old) and not _serves_every_backend(versions.new):
        keys = tuple(
            ", ".join(str(key) for key, _ in f.dispatch) or "none"
            for f in (versions.old, versions.new)
        )
        message = "it had a kernel for every backend, but has none now"
        kind = BreakKind.lost_composite_kernel
        yield _attribute(versions, kind, message, keys[0], keys[1], "dispatch")


def _serves_every_backend(f: NativeFunction) -> bool:
    """Return whether all backends have the operator.

    The functional and in-place variants of a structured group are generated from the out variant, for all backends; a
    structured view without an out variant from its meta function.
    """
    is_structured_view = f.structured and f.is_view_op and not f.func.is_out_fn()
    return f.has_composite_kernel or f.structured_delegate is not None or is_structured_view


def _removed_variants(versions: Versions) -> Iterator[Break]:
    for variant in sorted(versions.old.variants - versions.new.variants, key=lambda v: v.name):
        what = "method of Tensor" if variant is Variant.method else "function"
        old, new = (_names(f.variants) for f in (versions.old, versions.new))
        message = f"it can no longer be called as a {what}"
        yield _attribute(versions, BreakKind.removed_variant, message, old, new, "variants")


def _names(variants: frozenset[Variant]) -> str:
    return ", ".join(sorted(v.name for v in variants)) or "none"


def _moved_python_module(versions: Versions) -> Iterator[Break]:
    before, after = versions.old.python_module, versions.new.python_module
    if before != after:
        message = f"its Python module was {before or 'none'}, and is now {after or 'none'}"
        texts = (before or "", after or "")
        yield _attribute(versions, BreakKind.moved_python_module, message, *texts, "python_module")
