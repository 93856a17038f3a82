"""Breaks into diagnostics, and into JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from opgen.compat.breaks import STRICTER, Break, Direction
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.machine import place_object


def as_diagnostics(breaks: Iterable[Break], wanted: frozenset[Direction]) -> Diagnostics:
    """Each break as an error where the operator is now, or was if it is gone."""
    diagnostics = Diagnostics()
    for found in breaks:
        before = [] if found.new_span is None else [(found.old_span, "before")]
        diagnostics.error(
            found.kind.value,
            f"{found.operator}: {found.message}",
            found.new_span or found.old_span,
            labels=before,
            notes=_notes(found, wanted),
        )
    return diagnostics


def _notes(found: Break, wanted: frozenset[Direction]) -> list[str]:
    notes = []
    if Direction.backward not in found.directions:
        notes.append("it breaks only what the newer version saves and the older one runs")
    reason = stricter_reason(found, wanted)
    return notes if reason is None else [*notes, reason]


def stricter_reason(found: Break, wanted: frozenset[Direction]) -> str | None:
    """Why this is a break though the schemas alone do not say so; None if they do."""
    return None if found.verdicts & wanted else STRICTER[found.kind]


def render_breaks_json(breaks: Iterable[Break], wanted: frozenset[Direction]) -> str:
    """One object a line."""
    return "".join(
        f"{json.dumps(_as_object(found, wanted), ensure_ascii=False)}\n" for found in breaks
    )


def _as_object(found: Break, wanted: frozenset[Direction]) -> dict[str, object]:
    return {
        "operator": found.operator,
        "kind": found.kind.name,
        "code": found.kind.value,
        "message": found.message,
        "directions": sorted(direction.value for direction in found.directions & wanted),
        "old": found.old,
        "new": found.new,
        "old_span": place_object(found.old_span),
        "new_span": None if found.new_span is None else place_object(found.new_span),
        "stricter": stricter_reason(found, wanted),
    }
