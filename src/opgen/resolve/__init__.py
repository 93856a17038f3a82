"""Resolve operators into a Registry: generate variants, form groups and view groups, check rules across entries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, Span, until_too_many
from opgen.model.dispatch_key import LIBRARY_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import InvalidEntries, OutlessGroup, Registry, StructuredGroup
from opgen.resolve.checks import Entries, check_delegates_in_group, check_entries, check_names
from opgen.resolve.dispatch_tables import has_meta_of_written, serves_by_meta_alone
from opgen.resolve.group_checks import Completed, check_generated_names, check_group, check_variants
from opgen.resolve.one_entry import split_entries
from opgen.resolve.structured_checks import (
    check_outless_group,
    check_structured_beside_out,
    check_ufunc,
)
from opgen.resolve.variants import (
    collect_variants,
    find_base,
    find_group,
    find_outless_group,
    generate_variants,
    with_documentation,
)
from opgen.resolve.views import check_view_variants, collect_view_variants, find_view_group

__all__ = ["resolve", "without_reported"]

_NO_INVALID_ENTRIES = InvalidEntries()


@until_too_many(lambda: Registry((), (), (), ()))
def resolve(
    functions: tuple[NativeFunction, ...],
    diagnostics: Diagnostics,
    tags: tuple[str, ...] = (),
    invalid: InvalidEntries = _NO_INVALID_ENTRIES,
) -> Registry:
    """Return the registry of `functions`, with the functions that are generated for them.

    Reports contradictions. The registry then contains an operator that is defined twice only once, and everything
    else that can be derived. If one of the `invalid` entries may be a missing one, nothing is reported as missing, and
    nothing is generated in its place.
    """
    functions, invalid = split_entries(functions, invalid, tags, diagnostics)
    functions = with_documentation(functions)
    entries = Entries.of(functions, invalid)
    check_names(functions, invalid, diagnostics)
    check_entries(entries, diagnostics)

    completed: list[Completed] = []
    for written in collect_variants(entries.functions):
        is_whole = not (invalid.entries or invalid.unknown) or not any(
            invalid.may_be_variant_of(f.func) for f in written.members
        )
        base = find_base(written, tags) if is_whole else None
        every = generate_variants(written, base, tags)
        group = find_group(every)
        completed.append(Completed(written, every, base, group, entries, tags, is_whole))
    for variants in completed:
        check_variants(variants, diagnostics)
        check_structured_beside_out(variants, diagnostics)
    check_generated_names(completed, entries, diagnostics)
    generated = tuple(f for variants in completed for f in variants.generated)
    functions = entries.functions + generated

    groups = tuple(v.group for v in completed if v.group is not None)
    for group in groups:
        check_group(group, entries, diagnostics)
        check_ufunc(group, diagnostics)
    found = [(v, g) for v in completed if (g := find_outless_group(v.all)) is not None]
    outless = tuple(g for _, g in found)
    for v, outless_group in found:
        if v.is_whole:
            check_outless_group(outless_group, entries, diagnostics)
    check_delegates_in_group(entries, (*groups, *outless), diagnostics)

    views = collect_view_variants(functions)
    for view_variants in views:
        check_view_variants(view_variants, entries, diagnostics)

    return Registry(
        functions=functions,
        groups=groups,
        view_groups=tuple(filter(None, map(find_view_group, views))),
        dispatch_keys=_keys_in_use(functions, (*groups, *outless)),
        tags=tags,
        outless_groups=outless,
    )


def _keys_in_use(
    functions: tuple[NativeFunction, ...], groups: tuple[StructuredGroup, ...]
) -> tuple[DispatchKey, ...]:
    """Return the keys that have registrations, in the order of LIBRARY_DISPATCH_KEYS.

    Structured groups also register kernels for Meta and for all backends, which no entry names.
    """
    used = {key for f in functions for key, _ in f.dispatch}
    if any(f.is_library and has_meta_of_written(f) for f in functions):
        used |= {DispatchKey.Meta}
    for group in groups:
        if isinstance(group, OutlessGroup):
            used |= {DispatchKey.Meta}
            if serves_by_meta_alone(group):
                used |= {DispatchKey.CompositeExplicitAutograd}
        elif group.structured:
            used |= {DispatchKey.Meta, DispatchKey.CompositeExplicitAutogradNonFunctional}
    return tuple(key for key in LIBRARY_DISPATCH_KEYS if key in used)


def without_reported(registry: Registry, errors: Iterable[Span]) -> Registry:
    """Return the registry without the operators whose entries have one of `errors`, and without their groups.

    Later errors about them may only be consequences of the reported errors.
    """
    starts: dict[int, list[int]] = {}
    for span in sorted(errors, key=lambda span: span.start):
        starts.setdefault(id(span.source), []).append(span.start)
    # A generated operator has only the place of the name of its base.
    entries = {f.span: f.spans.entry for f in registry.functions if "generated" not in f.tags}

    def is_sound(f: NativeFunction) -> bool:
        entry = entries.get(f.span, f.spans.entry)
        found = starts.get(id(entry.source), [])
        at = bisect_left(found, entry.start)
        return at == len(found) or found[at] >= entry.end

    return replace(
        registry,
        functions=tuple(filter(is_sound, registry.functions)),
        groups=tuple(g for g in registry.groups if all(map(is_sound, g.functions()))),
        outless_groups=tuple(
            g for g in registry.outless_groups if all(map(is_sound, g.functions()))
        ),
        view_groups=tuple(g for g in registry.view_groups if all(map(is_sound, g.functions()))),
    )
