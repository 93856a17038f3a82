"""A list of breaks that are meant: its text into entries, and breaks into those that it does not allow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from opgen.compat.breaks import Break
from opgen.compat.codes import E1150, W1151, W1152
from opgen.diagnostics import Diagnostics, Source, Span, until_too_many


@dataclass(frozen=True, slots=True)
class Allowed:
    """Breaks of operators whose name `pattern` matches in full, up to and with the day `until`."""

    pattern: re.Pattern[str]
    until: date | None
    span: Span

    def allows(self, operator: str) -> bool:
        return any(self.pattern.fullmatch(name) for name in names(operator))


def names(operator: str) -> tuple[str, ...]:
    """How `aten::add.out` can be called: with or without namespace, and as one of the overloads."""
    own = operator.rpartition("::")[2]
    return (operator, own, operator.partition(".")[0], own.partition(".")[0])


@until_too_many(tuple[Allowed, ...])
def parse_allow_list(source: Source, diagnostics: Diagnostics) -> tuple[Allowed, ...]:
    """The entries of the list; lines that cannot be read are reported."""
    found = []
    for start, words in _lines(source.text):
        span = Span(source, start, start + len(words))
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
    try:
        return Allowed(re.compile(pattern), date.fromisoformat(rest[0]) if rest else None, span)
    except re.error as problem:
        diagnostics.error(E1150, f"'{pattern}' is not a regular expression: {problem}", span)
    except ValueError:
        diagnostics.error(E1150, f"'{rest[0]}' is not a date", span, hint="as 2030-12-31")
    return None


def not_allowed(
    breaks: Iterable[Break], allowed: Sequence[Allowed], today: date, diagnostics: Diagnostics
) -> tuple[Break, ...]:
    """The breaks that no entry allows. Entries that expired or allow nothing are reported."""
    breaks = tuple(breaks)
    valid = [entry for entry in allowed if entry.until is None or today <= entry.until]
    for entry in allowed:
        if entry not in valid:
            diagnostics.warning(W1151, f"this was allowed until {entry.until}", entry.span)
        elif not any(entry.allows(found.operator) for found in breaks):
            diagnostics.warning(W1152, "no break is of such an operator", entry.span)
    return tuple(
        found for found in breaks if not any(entry.allows(found.operator) for entry in valid)
    )
