"""Shorten names in messages, and find known names that are similar to an unknown one.

The distance counts edits: an added, removed or changed character, or two swapped neighbours (Damerau and
Levenshtein). Case is ignored, except to choose between names at the same distance.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

# Longer names are not typed by hand, and comparing them takes long.
_MAX_LENGTH = 64
# About one edit for three characters, up to this limit: at larger distances, unrelated names match.
_MAX_EDITS = 3
# A prefix of this length identifies a name.
_BEGINNING = 4
# In names up to this length, two edits lead to a different word.
_SHORT = 5
# So many comparisons take half a second.
_MOST_COMPARISONS = 3_000_000

_Known = tuple[int, int, str, str]


class Vocabulary:
    """Known names, indexed to find which of them an unknown word is likely to mean.

    A file may have a thousand misspelt names, and a library ten thousand operators. After _MOST_COMPARISONS
    comparisons it finds nothing more: the first few hundred errors have hints, and the others take no time.
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
        """Return the name with the fewest edits from `word`, or the only one with this prefix; None if there is none."""
        ranked = self._ranked(word, _limit(word))
        return ranked[0][-1] if ranked else self._only_longer(word)

    def only_near(self, word: str) -> str | None:
        """Return the name that `word` certainly means: very similar, and more so than any other; or None."""
        limit = 1 if len(word) <= _SHORT else 2
        ranked = self._ranked(word, min(limit, _limit(word)) + 1)
        if not ranked or ranked[0][0] > limit:
            return None
        if len(ranked) > 1 and ranked[1][0] == ranked[0][0]:
            return None
        return ranked[0][-1]

    def did_you_mean(self, word: str) -> str | None:
        """Return a hint that asks for the nearest name, or None."""
        found = self.nearest(word)
        return None if found is None else f"did you mean '{found}'?"

    def _ranked(self, word: str, limit: int) -> list[tuple[int, int, int, str]]:
        """Return the names within `limit` edits, nearest first, as (edits, edits with case, position, name)."""
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
                # An edit adds and removes at most one letter, so comparing the sets of letters avoids most comparisons.
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
    """Return the hint of a Vocabulary of `known` for one word."""
    return Vocabulary(known).did_you_mean(word)


def only_near(word: str, known: Sequence[str] | Mapping[str, object]) -> str | None:
    """Return the name that a Vocabulary of `known` says `word` certainly means, or None."""
    return Vocabulary(known).only_near(word)


@lru_cache(maxsize=256)
def meant(word: str, known: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Return `did_you_mean` and `only_near` of a word; cached, since a file may contain it thousands of times."""
    vocabulary = Vocabulary(known)
    return vocabulary.did_you_mean(word), vocabulary.only_near(word)


def shorten(text: str) -> str:
    """Return the text, or its beginning if it is too long for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def edit_distance(a: str, b: str, limit: int) -> int:
    """Return the number of edits from `a` to `b`, or a number above `limit` if there are more than `limit`."""
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
    """Return a mask with a bit for each character that occurs; some characters share a bit."""
    mask = 0
    for character in text:
        mask |= 1 << (ord(character) & 63)
    return mask
