"""Breaks between two versions of an operator, and the list of those that are intended."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import Enum

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Source, Span, until_too_many
from opgen.diagnostics.rendering import place_object
from opgen.diagnostics.suggestions import shorten


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
        message = f"{item.operator}: {item.message}"
        span = item.new_span or item.old_span
        notes = []
        if Direction.backward not in item.directions:
            only = "it breaks only programs that the newer version saves and the older one runs"
            notes.append(only)
        if reason := stricter_reason(item, wanted):
            notes.append(reason)
        diagnostics.error(item.kind.value, message, span, labels=before, notes=notes)
    return diagnostics


def stricter_reason(item: Break, wanted: frozenset[Direction]) -> str | None:
    """Return the reason for a break that a comparison of the schemas does not find; None if it does."""
    return None if item.verdicts & wanted else STRICTER[item.kind]


def render_breaks_json(breaks: Iterable[Break], wanted: frozenset[Direction]) -> str:
    """Return the breaks as JSON, one object per line."""
    rows = (
        {
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
        for item in breaks
    )
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


MAX_BYTES = 1_000_000
_MAX_ENTRIES = 5_000
_MAX_PATTERN = 500
# Patterns that may take exponential time: repeated groups and backreferences.
_SLOW = re.compile(r"\)[*+{]|\\[1-9]|\(\?P=|\(\?\(")
_REPEATS = re.compile(r"[*+{]")
_MAX_REPEATS = 3
# Parts of a pattern that neither repeat nor choose: escapes, character sets, and the start of special groups.
_PLAIN = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\(\?", re.DOTALL)
_OPTIONAL = re.compile(r"(?<![*+?}])\?")
# The most ways to match a name. Each optional part doubles them, the text between two parentheses multiplies them by the
# number of its alternatives, and each repetition by _PLACES, the number of places where it may end.
_MAX_WAYS = 1_000_000
_PLACES = 100


class Allowed(Struct, frozen=True):
    """Allows breaks of the operators whose whole name matches `pattern`, up to and including the day `until`."""

    pattern: re.Pattern[str]
    until: date | None
    span: Span

    def allows(self, operator: str) -> bool:
        """Return whether the entry is for this operator, by any of its names."""
        return any(self.pattern.fullmatch(name) for name in names(operator))


def names(operator: str) -> tuple[str, ...]:
    """Return the names of an operator such as `aten::add.out`: with and without namespace, and without overload."""
    own = operator.rpartition("::")[2]
    return (operator, own, operator.partition(".")[0], own.partition(".")[0])


@until_too_many(tuple[Allowed, ...])
def parse_allow_list(source: Source, diagnostics: Diagnostics) -> tuple[Allowed, ...]:
    """Parse the entries of the list. Invalid lines are reported."""
    entries: list[Allowed] = []
    for start, content in _lines(source.text):
        span = Span(source, start, start + len(content))
        if len(entries) == _MAX_ENTRIES:
            message = f"an allow-list has at most {_MAX_ENTRIES:,} lines"
            diagnostics.error("E1150", message, span, hint="match more operators in one line")
            break
        entry = _parse_entry(content, span, diagnostics)
        if entry is not None:
            entries.append(entry)
    return tuple(entries)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and content of each line that has more than a comment, without the comment."""
    position = 0
    for line in text.splitlines(keepends=True):
        content = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
        if content.strip():
            yield position + len(content) - len(content.lstrip()), content.strip()
        position += len(line)


def _parse_entry(content: str, span: Span, diagnostics: Diagnostics) -> Allowed | None:
    pattern, *rest = content.split()
    if len(rest) > 1:
        hint = "write a name or regular expression, and optionally a date"
        diagnostics.error("E1150", "more than two words", span, hint=hint)
        return None
    if problem := _find_slow_part(pattern):
        diagnostics.error("E1150", f"'{shorten(pattern)}' {problem}", span)
        return None
    try:
        with warnings.catch_warnings():
            # Python warns about syntax whose meaning may change.
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
        return Allowed(compiled, date.fromisoformat(rest[0]) if rest else None, span)
    except (re.error, RecursionError, OverflowError) as error:
        message = f"'{shorten(pattern)}' is not a regular expression: {error}"
        diagnostics.error("E1150", message, span)
    except ValueError:
        diagnostics.error(
            "E1150", f"'{shorten(rest[0])}' is not a date", span, hint="as 2030-12-31"
        )
    return None


def _find_slow_part(pattern: str) -> str | None:
    """Return why matching could take too long, for a message; None if it cannot."""
    if len(pattern) > _MAX_PATTERN:
        return f"has more than {_MAX_PATTERN} characters"
    if _SLOW.search(pattern):
        return "repeats a group or has a backreference, which can take forever"
    repeats = len(_REPEATS.findall(pattern))
    if repeats > _MAX_REPEATS:
        return f"has more than {_MAX_REPEATS} repetitions, which can take forever"
    plain = _PLAIN.sub(lambda part: "(" if part[0] == "(?" else "x", pattern)
    alternatives = (part.count("|") + 1 for part in re.split(r"[()]", plain))
    ways = math.prod(alternatives) * 2 ** len(_OPTIONAL.findall(plain)) * _PLACES**repeats
    if ways > _MAX_WAYS:
        return "has too many optional parts and alternatives, which can take forever"
    return None


def not_allowed(
    breaks: Iterable[Break], allowed: Sequence[Allowed], today: date, diagnostics: Diagnostics
) -> tuple[Break, ...]:
    """Return the breaks that no entry allows. Entries that have expired, or allow no break, are reported."""
    kept = every = tuple(breaks)
    for entry in allowed:
        if entry.until is not None and today > entry.until:
            diagnostics.warning("W1151", f"this was allowed until {entry.until}", entry.span)
            continue
        if not any(entry.allows(item.operator) for item in every):
            diagnostics.warning("W1152", "no break is of such an operator", entry.span)
        kept = tuple(item for item in kept if not entry.allows(item.operator))
    return kept
