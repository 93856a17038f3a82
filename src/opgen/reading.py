"""Paths given on the command line into the bytes of files."""

from __future__ import annotations

from pathlib import Path

from opgen.codes_files import E0905
from opgen.diagnostics import Diagnostics, Source
from opgen.parse import decode_source


def read_bytes(path: Path, diagnostics: Diagnostics) -> bytes | None:
    """The content of a file; None if it cannot be read, which is reported."""
    try:
        return path.read_bytes()
    except OSError as error:
        diagnostics.error(E0905, f"cannot read {path}: {error.strerror}", None)
        return None


def read_source(path: Path, diagnostics: Diagnostics) -> Source | None:
    """The text of a file; None if it cannot be read, which is reported."""
    content = read_bytes(path, diagnostics)
    return None if content is None else decode_source(str(path), content, diagnostics)
