"""Breaks between two versions of an operator: their kinds, directions, and the record of a break."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.machine import place_object


class Direction(Enum):
    """`backward`: programs for OLD run with NEW. `forward`: programs that NEW saves run with OLD."""

    backward = "backward"
    forward = "forward"


BACKWARD = frozenset({Direction.backward})
FORWARD = frozenset({Direction.forward})
BOTH = BACKWARD | FORWARD


class BreakKind(Enum):
    """The kind of a break. Its value is the code for `opgen explain`."""

    removed_operator = "E1101"
    removed_overload = "E1102"
    removed_argument = "E1103"
    renamed_argument = "E1104"
    reordered_arguments = "E1105"
    inserted_argument = "E1106"
    new_argument_without_default = "E1107"
    new_argument_with_list_default = "E1108"
    keyword_only_moved = "E1109"
    changed_argument_type = "E1110"
    changed_default = "E1111"
    removed_default = "E1112"
    added_default = "E1113"
    changed_argument_alias = "E1114"
    new_out_argument = "E1115"
    changed_number_of_returns = "E1116"
    changed_return_type = "E1117"
    renamed_return = "E1118"
    changed_return_alias = "E1119"
    lost_composite_kernel = "E1120"
    removed_variant = "E1121"
    moved_python_module = "E1122"


# Reasons for breaks that a comparison of the two schemas alone does not find.
STRICTER: Mapping[BreakKind, str] = {
    BreakKind.removed_argument: "programs that NEW saves do not pass the argument, and OLD has no default",
    BreakKind.new_out_argument: "an out argument has no default, so every caller must pass it",
    BreakKind.changed_return_type: "programs that NEW saves rely on the return types of NEW",
    BreakKind.renamed_return: "programs that NEW saves may access the return by its name",
    BreakKind.changed_return_alias: "programs that NEW saves rely on which memory is shared or written",
    BreakKind.lost_composite_kernel: "the schema is the same, but backends without a kernel lose the operator",
    BreakKind.removed_variant: "the schema is the same, but one way to call it is removed",
    BreakKind.moved_python_module: "the schema is the same, but it is in another Python module",
}


class Break(Struct, frozen=True):
    """A change of `operator` that breaks its callers.

    `verdicts` are the directions in which the two schemas are incompatible by `torch.FunctionSchema`; `stricter` are
    those that opgen adds, for the reason in STRICTER. `old` and `new` show the changed part; `new` is empty, and
    `new_span` None, if it was removed.
    """

    operator: str
    kind: BreakKind
    message: str
    old: str
    new: str
    old_span: Span
    new_span: Span | None
    verdicts: frozenset[Direction] = BOTH
    stricter: frozenset[Direction] = frozenset()

    @property
    def directions(self) -> frozenset[Direction]:
        return self.verdicts | self.stricter


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
