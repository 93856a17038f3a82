"""Names in messages: shortened if they are long, and those that come near to an unknown one.

How near is counted in edits: a character more, less or changed, or two neighbours that change places
(Damerau and Levenshtein). Upper and lower case are the same, but for deciding between names as near.
"""

from __future__ import annotations

from collections.abc import Iterable

# Longer names are not typed by hand, and comparing them takes long.
_MAX_LENGTH = 64
# About one edit for three characters, and no more than these: further names look like anything.
_MAX_EDITS = 3
# As many characters of a name say which is meant.
_BEGINNING = 4
# Up to this length two edits make another word.
_SHORT = 5


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name fewest edits away from `name`, or the only one that begins so; None if none is near."""
    known = tuple(known)
    ranked = _ranked(name, known, _limit(name))
    if ranked:
        return ranked[0][2]
    longer = [k for k in known if k.lower().startswith(name.lower())]
    return longer[0] if len(name) >= _BEGINNING and len(longer) == 1 else None


def only_near(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is surely meant to be: very near, and nearer than any other."""
    limit = 1 if len(name) <= _SHORT else 2
    ranked = _ranked(name, known, min(limit, _limit(name)) + 1)
    if not ranked or ranked[0][0] > limit:
        return None
    if len(ranked) > 1 and ranked[1][0] == ranked[0][0]:
        return None
    return ranked[0][2]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """As a question, which is a hint."""
    found = nearest(name, known)
    return None if found is None else f"did you mean '{found}'?"


def shorten(text: str) -> str:
    """The text itself, or its beginning if it is too long for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def edit_distance(a: str, b: str, limit: int) -> int:
    """How many edits make `b` of `a`; anything above `limit` if they are more than that."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, last, row = row, before, [i]
        for j, y in enumerate(b, 1):
            edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                edits = min(edits, last[j - 2] + 1)
            row.append(edits)
        if min(row) > limit and min(before) > limit:
            return limit + 1
    return row[-1]


def _limit(name: str) -> int:
    return min(max(1, (len(name) + 1) // 3), _MAX_EDITS)


def _ranked(name: str, known: Iterable[str], limit: int) -> list[tuple[int, int, str]]:
    """Known names within `limit` edits, the nearest first: the edits, those with case, the name.

    Of names as near as each other the one known first stands first.
    """
    if not name or len(name) > _MAX_LENGTH:
        return []
    lower, letters = name.lower(), set(name.lower())
    found = []
    for k in known:
        # Each edit brings and takes one letter at most: a look at them spares most comparisons.
        if abs(len(k) - len(name)) > limit or len(letters.symmetric_difference(k.lower())) > (
            2 * limit
        ):
            continue
        edits = edit_distance(lower, k.lower(), limit)
        if edits <= limit:
            found.append((edits, edit_distance(name, k, _MAX_LENGTH), k))
    return sorted(found, key=lambda row: row[:2])
