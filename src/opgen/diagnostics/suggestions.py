"""Names in messages: shortened if they are long, and those that come near to an unknown one.

How near is counted in edits: a character more, less or changed, or two neighbours that change places
(Damerau and Levenshtein). Upper and lower case are the same, but for deciding between names as near.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

# Longer names are not typed by hand, and comparing them takes long.
_MAX_LENGTH = 64
# About one edit for three characters, and no more than these: further names look like anything.
_MAX_EDITS = 3
# As many characters of a name say which is meant.
_BEGINNING = 4
# Up to this length two edits make another word.
_SHORT = 5
# Half a second of them.
_MOST_COMPARISONS = 3_000_000

_Known = tuple[int, int, str, str]


class Vocabulary:
    """Names in their order, made ready for questions which of them an unknown word is meant to be.

    A file may hold a thousand misspelt names, and a library ten thousands of operators. After
    _MOST_COMPARISONS looks at a name it knows no answer any more: the first some hundred errors have
    their hints, and the rest is as quick as it would be without.
    """

    __slots__ = ("_by_length", "_left", "_sorted", "names")

    def __init__(self, known: Iterable[str]) -> None:
        self.names = tuple(dict.fromkeys(known))
        self._by_length: dict[int, list[_Known]] = {}
        self._left = _MOST_COMPARISONS
        for place, name in enumerate(self.names):
            lower = name.lower()
            self._by_length.setdefault(len(name), []).append((_letters(lower), place, lower, name))
        rows = (row for rows in self._by_length.values() for row in rows)
        self._sorted = sorted((lower, name) for _, _, lower, name in rows)

    def nearest(self, word: str) -> str | None:
        """The name fewest edits away from `word`, or the only one that begins so; None if none is near."""
        ranked = self._ranked(word, _limit(word))
        return ranked[0][-1] if ranked else self._only_longer(word)

    def only_near(self, word: str) -> str | None:
        """The name that `word` is surely meant to be: very near, and nearer than any other."""
        limit = 1 if len(word) <= _SHORT else 2
        ranked = self._ranked(word, min(limit, _limit(word)) + 1)
        if not ranked or ranked[0][0] > limit:
            return None
        if len(ranked) > 1 and ranked[1][0] == ranked[0][0]:
            return None
        return ranked[0][-1]

    def did_you_mean(self, word: str) -> str | None:
        """The nearest name as a question, which is a hint."""
        found = self.nearest(word)
        return None if found is None else f"did you mean '{found}'?"

    def _ranked(self, word: str, limit: int) -> list[tuple[int, int, int, str]]:
        """The names within `limit` edits, the nearest first: the edits, those with case, place, name."""
        if not word or len(word) > _MAX_LENGTH:
            return []
        lower = word.lower()
        letters = _letters(lower)
        found = []
        for length in range(len(word) - limit, len(word) + limit + 1):
            rows = self._by_length.get(length, ())
            self._left -= len(rows)
            if self._left < 0:
                return []
            for mask, place, known, name in rows:
                # Each edit brings and takes one letter at most: a look at them spares most comparisons.
                if (mask ^ letters).bit_count() > 2 * limit:
                    continue
                edits = edit_distance(lower, known, limit)
                if edits <= limit:
                    found.append((edits, edit_distance(word, name, _MAX_LENGTH), place, name))
        return sorted(found)

    def _only_longer(self, word: str) -> str | None:
        lower = word.lower()
        first = bisect_left(self._sorted, (lower, ""))
        longer = [name for k, name in self._sorted[first : first + 2] if k.startswith(lower)]
        return longer[0] if len(word) >= _BEGINNING and len(longer) == 1 else None


def did_you_mean(word: str, known: Sequence[str] | Mapping[str, object]) -> str | None:
    """As the Vocabulary of `known`, for one question."""
    return Vocabulary(known).did_you_mean(word)


@lru_cache(maxsize=256)
def meant(word: str, known: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The question and the certain answer (`did_you_mean`, `only_near`) for a word that a file may hold thousands of times."""
    vocabulary = Vocabulary(known)
    return vocabulary.did_you_mean(word), vocabulary.only_near(word)


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


def _letters(text: str) -> int:
    """A bit for each character that occurs; some share one."""
    mask = 0
    for character in text:
        mask |= 1 << (ord(character) & 63)
    return mask
