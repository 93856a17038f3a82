"""Compare two texts line by line."""

from __future__ import annotations

import difflib
import re

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def unified_diff(old_name: str, new_name: str, old: str, new: str) -> str:
    """Return the differences between two texts as a unified diff, empty if there are none.

    Lines keep their ends, so `patch` turns the old text into exactly the new one.
    """
    lines = difflib.unified_diff(
        _LINES.findall(old), _LINES.findall(new), fromfile=old_name, tofile=new_name
    )
    return "".join(
        line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"
        for line in lines
    )
