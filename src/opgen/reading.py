"""Paths given on the command line into the bytes of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from opgen.codes_files import E0905
from opgen.diagnostics import Diagnostics, Source
from opgen.diagnostics.codes_limits import E0912
from opgen.parse import decode_source

MAX_BYTES = 10_000_000

# Contents that stand for those of files: texts that are not saved, or edits that are not written.
Overlay = Mapping[Path, bytes]
_NOTHING: Overlay = {}


def read_bytes(
    path: Path, diagnostics: Diagnostics, overlay: Overlay = _NOTHING, *, most: int = MAX_BYTES
) -> bytes | None:
    """The content of a file; None if it cannot be read or has more than `most` bytes, which is reported."""
    try:
        content = overlay.get(path)
        if content is None:
            with open(path, "rb") as file:
                content = file.read(most + 1)
        if len(content) <= most:
            return content
        message = f"{path} has more than {most // 1_000_000} MB"
        diagnostics.error(E0912, message, None)
        return None
    except OSError as error:
        diagnostics.error(E0905, f"cannot read {path}: {error.strerror}", None)
        return None


def read_source(path: Path, diagnostics: Diagnostics, overlay: Overlay = _NOTHING) -> Source | None:
    """The text of a file; None if it cannot be read, which is reported."""
    content = read_bytes(path, diagnostics, overlay)
    return None if content is None else decode_source(str(path), content, diagnostics)
