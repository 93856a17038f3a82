"""Remove the operators that were reported from a registry, for checks of later stages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from msgspec.structs import replace

from opgen.diagnostics import Span
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry


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
