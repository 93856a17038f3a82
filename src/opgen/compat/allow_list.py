"""A list of breaks that are meant: its text into entries, and breaks into those that it does not allow."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from opgen.compat.breaks import Break
from opgen.compat.codes import E1150, W1151, W1152
from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics, Source, Span, until_too_many
from opgen.diagnostics.suggestions import shorten

MAX_BYTES = 1_000_000
_MAX_ENTRIES = 5_000
_MAX_PATTERN = 500
# What makes a match take forever: what repeats a group, refers back to one, or is repeated too often.
_SLOW = re.compile(r"\)[*+{]|\\[1-9]|\(\?P=|\(\?\(")
_REPEATS = re.compile(r"[*+{]")
_MAX_REPEATS = 3
# What stands for itself in an expression: it repeats and chooses nothing.
_PLAIN = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\(\?", re.DOTALL)
_OPTIONAL = re.compile(r"(?<![*+?}])\?")
# Each optional part doubles the ways to match a name, each group multiplies them by what it chooses from, and what is
# repeated ends at any of so many places.
_MAX_WAYS = 1_000_000
_PLACES = 100


@dataclass(frozen=True, slots=True)
class Allowed:
    """Breaks of operators whose name `pattern` matches in full, up to and with the day `until`."""

    pattern: re.Pattern[str]
    until: date | None
    span: Span

    def holds(self, today: date) -> bool:
        return self.until is None or today <= self.until

    def allows(self, operator: str) -> bool:
        return any(self.pattern.fullmatch(name) for name in names(operator))


def names(operator: str) -> tuple[str, ...]:
    """How `aten::add.out` can be called: with or without namespace, and as one of the overloads."""
    own = operator.rpartition("::")[2]
    return (operator, own, operator.partition(".")[0], own.partition(".")[0])


@until_too_many(tuple[Allowed, ...])
def parse_allow_list(source: Source, diagnostics: Diagnostics) -> tuple[Allowed, ...]:
    """The entries of the list; lines that cannot be read are reported."""
    found: list[Allowed] = []
    for start, words in _lines(source.text):
        span = Span(source, start, start + len(words))
        if len(found) == _MAX_ENTRIES:
            message = f"an allow-list has at most {_MAX_ENTRIES:,} lines"
            diagnostics.error(E1150, message, span, hint="name more operators in one")
            break
        entry = _parse_entry(words, span, diagnostics)
        if entry is not None:
            found.append(entry)
    return tuple(found)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line that says something: where it begins and what it says, without its comment."""
    position = 0
    for line in text.splitlines(keepends=True):
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
        if words.strip():
            yield position + len(words) - len(words.lstrip()), words.strip()
        position += len(line)


def _parse_entry(words: str, span: Span, diagnostics: Diagnostics) -> Allowed | None:
    pattern, *rest = words.split()
    if len(rest) > 1:
        hint = "a name or regular expression, and perhaps a date"
        diagnostics.error(E1150, "more than two words", span, hint=hint)
        return None
    if problem := _slow(pattern):
        diagnostics.error(E1150, f"'{shorten(pattern)}' {problem}", span)
        return None
    try:
        return Allowed(_compile(pattern), date.fromisoformat(rest[0]) if rest else None, span)
    except (re.error, RecursionError, OverflowError) as error:
        message = f"'{shorten(pattern)}' is not a regular expression: {error}"
        diagnostics.error(E1150, message, span)
    except ValueError:
        diagnostics.error(E1150, f"'{shorten(rest[0])}' is not a date", span, hint="as 2030-12-31")
    return None


def _slow(pattern: str) -> str | None:
    """Why matching could take too long; None if it cannot."""
    if len(pattern) > _MAX_PATTERN:
        return f"has more than {_MAX_PATTERN} characters"
    if _SLOW.search(pattern):
        return "repeats a group or refers back to one, which can take forever"
    repeats = len(_REPEATS.findall(pattern))
    if repeats > _MAX_REPEATS:
        return f"repeats more than {_MAX_REPEATS} times, which can take forever"
    if _ways(_PLAIN.sub(_kept, pattern)) * _PLACES**repeats > _MAX_WAYS:
        return "has too many optional parts and alternatives, which can take forever"
    return None


def _kept(found: re.Match[str]) -> str:
    return "(" if found[0] == "(?" else "x"


def _ways(pattern: str) -> int:
    """In how many ways `pattern`, without what stands for itself, can choose; _MAX_WAYS stands for more."""
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
        # Of what a later Python may take for something else.
        warnings.simplefilter("ignore")
        return re.compile(pattern)


def not_allowed(
    breaks: Iterable[Break], allowed: Sequence[Allowed], today: date, diagnostics: Diagnostics
) -> tuple[Break, ...]:
    """The breaks that no entry allows. Entries that expired or allow nothing are reported."""
    breaks = tuple(breaks)
    valid = [entry for entry in allowed if entry.holds(today)]
    for entry in allowed:
        if not entry.holds(today):
            diagnostics.warning(W1151, f"this was allowed until {entry.until}", entry.span)
        elif not any(entry.allows(found.operator) for found in breaks):
            diagnostics.warning(W1152, "no break is of such an operator", entry.span)
    return tuple(
        found for found in breaks if not any(entry.allows(found.operator) for entry in valid)
    )
