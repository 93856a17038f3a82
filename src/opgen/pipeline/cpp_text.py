"""Read C++ files that are searched for names. This module imports no other."""

from __future__ import annotations

import os
import stat
from pathlib import Path

# The most bytes of such a file.
_MAX_CPP_BYTES = 4_000_000


def find_cpp_text(path: Path | str) -> str | None:
    """Return the text of a C++ file that is searched for names; invalid UTF-8 is replaced.

    None if it is too large or not a regular file, or if it cannot be read, which the compiler reports.
    """
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_CPP_BYTES:
            return None
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            return file.read()
    except OSError:
        return None
