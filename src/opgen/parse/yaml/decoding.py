"""Decode the bytes of a file."""

from __future__ import annotations

import hashlib

from opgen.diagnostics import Diagnostics, Source, Span


def decode_source(path: str, content: bytes, diagnostics: Diagnostics) -> Source:
    """Decode a file as UTF-8, with or without a byte order mark.

    Invalid bytes are reported (E0101) and replaced by U+FFFD. The digest is that of `content`.
    """
    digest = hashlib.sha256(content).hexdigest()
    try:
        return Source(path, content.decode("utf-8-sig"), digest)
    except UnicodeDecodeError as error:
        before = len(content[: error.start].decode("utf-8-sig", errors="replace"))
        source = Source(path, content.decode("utf-8-sig", errors="replace"), digest)
        message = f"not UTF-8: byte 0x{content[error.start]:02x}"
        diagnostics.error("E0101", message, Span(source, before, before + 1))
        return source
