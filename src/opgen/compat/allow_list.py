"""Parse a list of intended breaks, and find the breaks that it does not allow."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from msgspec import Struct

from opgen.compat.breaks import Break
from opgen.diagnostics import Diagnostics, Source, Span, until_too_many
from opgen.diagnostics.suggestions import shorten

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
# The most ways to match a name. Each optional part doubles them, each group multiplies them by the number of its
# alternatives, and each repetition by _PLACES, the number of places where it may end.
_MAX_WAYS = 1_000_000
_PLACES = 100


class Allowed(Struct, frozen=True):
    """Allows breaks of the operators whose whole name matches `pattern`, up to and including the day `until`."""

    pattern: re.Pattern[str]
    until: date | None
    span: Span

    def is_valid(self, today: date) -> bool:
        """Return whether the entry has not expired."""
        return self.until is None or today <= self.until

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
        return Allowed(_compile(pattern), date.fromisoformat(rest[0]) if rest else None, span)
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
    if _count_ways(_PLAIN.sub(_simplify, pattern)) * _PLACES**repeats > _MAX_WAYS:
        return "has too many optional parts and alternatives, which can take forever"
    return None


def _simplify(part: re.Match[str]) -> str:
    return "(" if part[0] == "(?" else "x"


def _count_ways(pattern: str) -> int:
    """Return the number of combinations of alternatives and optional parts in a simplified pattern.

    At most _MAX_WAYS + 1.
    """
    ways, open_groups, done = 1, [1], []
    for character in pattern:
        match character:
            case "(":
                open_groups.append(1)
            case ")" if len(open_groups) > 1:
                done.append(open_groups.pop())
            case "|":
                open_groups[-1] += 1
    for factor in (*done, *open_groups, *[2] * len(_OPTIONAL.findall(pattern))):
        ways = min(ways * factor, _MAX_WAYS + 1)
    return ways


def _compile(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        # Python warns about syntax whose meaning may change.
        warnings.simplefilter("ignore")
        return re.compile(pattern)


def not_allowed(
    breaks: Iterable[Break], allowed: Sequence[Allowed], today: date, diagnostics: Diagnostics
) -> tuple[Break, ...]:
    """Return the breaks that no entry allows. Entries that have expired, or allow no break, are reported."""
    breaks = tuple(breaks)
    valid = [entry for entry in allowed if entry.is_valid(today)]
    for entry in allowed:
        if not entry.is_valid(today):
            diagnostics.warning("W1151", f"this was allowed until {entry.until}", entry.span)
        elif not any(entry.allows(item.operator) for item in breaks):
            diagnostics.warning("W1152", "no break is of such an operator", entry.span)
    return tuple(item for item in breaks if not any(entry.allows(item.operator) for entry in valid))
