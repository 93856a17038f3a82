"""Report breaks as diagnostics and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from opgen.compat.breaks import STRICTER, Break, Direction
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.machine import place_object


def as_diagnostics(breaks: Iterable[Break], wanted: frozenset[Direction]) -> Diagnostics:
    """Return each break as an error at the operator's new position, or the old one if it was removed.

    `wanted` are the directions that are checked.
    """
    breaks = tuple(breaks)
    # A report is complete, however long: it is the answer, and does not say why there is none.
    diagnostics = Diagnostics(most=len(breaks) + 1)
    for item in breaks:
        before = [] if item.new_span is None else [(item.old_span, "before")]
        diagnostics.error(
            item.kind.value,
            f"{item.operator}: {item.message}",
            item.new_span or item.old_span,
            labels=before,
            notes=_notes(item, wanted),
        )
    return diagnostics


def _notes(item: Break, wanted: frozenset[Direction]) -> list[str]:
    notes = []
    if Direction.backward not in item.directions:
        notes.append("it breaks only programs that the newer version saves and the older one runs")
    reason = stricter_reason(item, wanted)
    return notes if reason is None else [*notes, reason]


def stricter_reason(item: Break, wanted: frozenset[Direction]) -> str | None:
    """Return the reason for a break that a comparison of the schemas does not find; None if it does."""
    return None if item.verdicts & wanted else STRICTER[item.kind]


def render_breaks_json(breaks: Iterable[Break], wanted: frozenset[Direction]) -> str:
    """Return the breaks as JSON, one object per line."""
    return "".join(
        f"{json.dumps(_as_object(item, wanted), ensure_ascii=False)}\n" for item in breaks
    )


def _as_object(item: Break, wanted: frozenset[Direction]) -> dict[str, object]:
    return {
        "operator": item.operator,
        "kind": item.kind.name,
        "code": item.kind.value,
        "message": item.message,
        "directions": sorted(direction.value for direction in item.directions & wanted),
        "old": item.old,
        "new": item.new,
        "old_span": place_object(item.old_span),
        "new_span": None if item.new_span is None else place_object(item.new_span),
        "stricter": stricter_reason(item, wanted),
    }
