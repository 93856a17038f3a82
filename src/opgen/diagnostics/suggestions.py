"""Names in messages: shortened if they are long, and those that come near to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, upper and lower case being the same; None if none is near."""
    if len(name) > 64:
        return None
    by_lower = {k.lower(): k for k in known}
    found = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    found = nearest(name, known)
    return None if found is None else f"did you mean '{found}'?"


def shorten(text: str) -> str:
    """The text itself, or its beginning if it is too long for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."
