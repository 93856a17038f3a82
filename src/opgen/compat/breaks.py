"""What breaks between two versions of an operator: kinds, directions, and the record of one break."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from opgen.dataclasses import dataclass
from opgen.diagnostics import Span


class Direction(Enum):
    """`backward`: what was written for OLD runs with NEW. `forward`: what NEW saves runs with OLD."""

    backward = "backward"
    forward = "forward"


BACKWARD = frozenset({Direction.backward})
FORWARD = frozenset({Direction.forward})
BOTH = BACKWARD | FORWARD


class BreakKind(Enum):
    """The value is the code under which `opgen explain` says more."""

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


# Why opgen calls something a break that a comparison of the two schemas alone does not.
STRICTER: Mapping[BreakKind, str] = {
    BreakKind.removed_argument: "what NEW saves does not give the argument, and OLD has no default",
    BreakKind.new_out_argument: "an out argument has no default, so every caller must give it",
    BreakKind.changed_return_type: "what NEW saves relies on what NEW returns",
    BreakKind.renamed_return: "what NEW saves may take the return by its name",
    BreakKind.changed_return_alias: "what NEW saves relies on what is shared or written",
    BreakKind.lost_composite_kernel: "the schema is the same, but backends without a kernel lose it",
    BreakKind.removed_variant: "the schema is the same, but one way to call it is gone",
    BreakKind.moved_python_module: "the schema is the same, but Python finds it elsewhere",
}


@dataclass(frozen=True, slots=True)
class Break:
    """One thing that callers of `operator` relied on and that is no more.

    `verdicts` are the directions in which the two schemas are incompatible by themselves (the
    verdicts of `torch.FunctionSchema`), `stricter` those that opgen adds, for the reason in STRICTER.
    `old` and `new` are texts; `new` is empty, and `new_span` None, if nothing is left.
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
