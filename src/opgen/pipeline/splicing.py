"""A change of few items of a text, made in a text that has these among many others."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.render import items_of


def spliced(whole: str, old: str, new: str) -> str | None:
    """The text of a file that was `whole`, where that of a small library was `old` and is `new` now.

    Both are made with marks. A text without items is of these operators alone, and replaced. Of one that has some,
    only items may differ, each of which is replaced. None if that is not so, or if an item is not found in
    `whole`, word for word, exactly once.
    """
    before, after = items_of(old), items_of(new)
    if before is None or after is None:
        return None
    if not before.items and not after.items:
        return new if whole == old else None
    if before.around != after.around:
        return None
    return _with_changes(whole, zip(before.items, after.items))


def _with_changes(text: str, changes: Iterable[tuple[str, str]]) -> str | None:
    """`text` with each first text of a pair replaced by the second, wherever they differ."""
    places = []
    for was, now in changes:
        if was != now:
            at = text.find(was)
            if not was or at < 0 or text.find(was, at + 1) >= 0:
                return None
            places.append((at, at + len(was), now))
    parts, done = [], 0
    for start, end, now in sorted(places):
        if start < done:
            return None
        parts += [text[done:start], now]
        done = end
    return "".join([*parts, text[done:]])
