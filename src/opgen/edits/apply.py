"""Apply edits to a text."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from opgen.diagnostics import Edit


def apply_edits(text: str, edits: Iterable[Edit]) -> tuple[str, int]:
    """Return `text` with `edits` applied, and their number. If edits overlap, only the first is applied.

    Offsets are those of `text`. Two equal edits are one; two insertions at one place overlap.
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
    """Encode `text`, with a byte order mark if `content`, from which it was decoded, has one."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    return mark + text.encode("utf-8")
