"""A registry without the operators that were reported, for checks of later stages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from opgen.dataclasses import replace
from opgen.diagnostics import Span
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry


def without_reported(registry: Registry, errors: Iterable[Span]) -> Registry:
    """The registry without the operators in whose entries one of `errors` is, and their groups.

    What later stages would say of them may follow from what is wrong already.
    """
    starts: dict[int, list[int]] = {}
    for span in sorted(errors, key=lambda span: span.start):
        starts.setdefault(id(span.source), []).append(span.start)
    # A generated operator stands for no more than the name of the one that it is made from.
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
