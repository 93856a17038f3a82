"""Read the files that are given on the command line."""

from __future__ import annotations

from pathlib import Path

from opgen.diagnostics import Diagnostics, Source
from opgen.parse import decode_source
from opgen.pipeline.inputs import Overlay

MAX_BYTES = 10_000_000

_NO_OVERLAY: Overlay = {}


def read_bytes(
    path: Path, diagnostics: Diagnostics, overlay: Overlay = _NO_OVERLAY, *, most: int = MAX_BYTES
) -> bytes | None:
    """Return the content of a file; report a file that cannot be read or has more than `most` bytes, and return None."""
    try:
        content = overlay.get(path)
        if content is None:
            with open(path, "rb") as file:
                content = file.read(most + 1)
        if len(content) <= most:
            return content
        message = f"{path} has more than {most // 1_000_000} MB"
        diagnostics.error("E0912", message, None)
        return None
    except OSError as error:
        diagnostics.error("E0905", f"cannot read {path}: {error.strerror}", None)
        return None


def read_source(
    path: Path, diagnostics: Diagnostics, overlay: Overlay = _NO_OVERLAY
) -> Source | None:
    """Return the text of a file; report a file that cannot be read, and return None."""
    content = read_bytes(path, diagnostics, overlay)
    return None if content is None else decode_source(str(path), content, diagnostics)
