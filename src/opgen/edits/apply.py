"""A text and edits of it into the text that they make, and how the two differ."""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Iterable

from opgen.diagnostics import Edit

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def apply_edits(text: str, edits: Iterable[Edit]) -> tuple[str, int]:
    """`text` with `edits` made, and how many were made. Of edits that overlap, the first is made.

    Offsets are those of `text`. The same edit twice is one; two insertions at one place overlap.
    """
    parts: list[str] = []
    position, made = 0, 0
    last: tuple[int, int] | None = None
    distinct = dict.fromkeys((e.span.start, e.span.end, e.replacement) for e in edits)
    for start, end, replacement in sorted(distinct):
        if start < position or (start, end) == last:
            continue
        parts += text[position:start], replacement
        position, made, last = end, made + 1, (start, end)
    return "".join((*parts, text[position:])), made


def encode_like(text: str, content: bytes) -> bytes:
    """`text` as bytes, with a byte order mark if `content`, which it was read from, has one."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    return mark + text.encode("utf-8")


def unified_diff(path: str, old: str, new: str) -> str:
    """How two texts of one file differ, line by line; empty if they do not.

    Line ends are those of the texts, so that what `patch` makes of it is the new text.
    """
    lines = difflib.unified_diff(
        _LINES.findall(old), _LINES.findall(new), fromfile=path, tofile=path
    )
    return "".join(
        line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"
        for line in lines
    )
