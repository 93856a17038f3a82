"""Bytes of a file into a source text."""

from __future__ import annotations

import hashlib

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.parse import codes_yaml as codes


def decode_source(path: str, content: bytes, diagnostics: Diagnostics) -> Source:
    """The text of a file. Bytes that are not UTF-8 are reported, and shown as U+FFFD."""
    digest = hashlib.sha256(content).hexdigest()
    try:
        return Source(path, content.decode("utf-8-sig"), digest)
    except UnicodeDecodeError as error:
        before = len(content[: error.start].decode("utf-8-sig", errors="replace"))
        source = Source(path, content.decode("utf-8-sig", errors="replace"), digest)
        message = f"not UTF-8: byte 0x{content[error.start]:02x}"
        diagnostics.error(codes.E0101, message, Span(source, before, before + 1))
        return source
