"""Anchors of headings. A module of its own, because Sphinx stores the function by its name."""

from __future__ import annotations

import re

_CODE = re.compile(r"[EW]\d{4}(?=: )")
_LEFT_OUT = re.compile(r"[^\w\- ]")


def slug(title: str) -> str:
    """Return the anchor of a heading, as a repository browser spells it. The site shows the title of a diagnostic beside its
    code, but the code is the anchor.
    """
    code = _CODE.match(title)
    return _LEFT_OUT.sub("", code[0] if code else title).lower().replace(" ", "-")
