"""Apply a change of few items to a text that has these items among many others."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.templating.render import items_of


def splice(whole: str, old: str, new: str) -> str | None:
    """Return the new text of a file whose old text is `whole`; the texts `old` and `new` are those for a small library.

    The latter are rendered with marks. A text without items belongs to the small library's operators, so `new` replaces it.
    In a text with items, only items may differ, and each item that differs is replaced. Return None if anything else differs,
    or if `whole` does not have an item exactly once.
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
    """Replace the first text of each pair in `text` by the second, if they differ."""
    places = []
    for was, now in changes:
        if was != now:
            at = text.find(was)
            if not was or at < 0 or text.find(was, at + 1) >= 0:
                return None
            # An item may have a blank line before or after it because of its neighbour, and at the end it has none.
            if at + len(was) == len(text) or was.strip("\n") == now.strip("\n"):
                return None
            places.append((at, at + len(was), now))
    parts, done = [], 0
    for start, end, now in sorted(places):
        if start < done:
            return None
        parts += [text[done:start], now]
        done = end
    return "".join([*parts, text[done:]])
