"""The user's cache of compiled parts of opgen, which runtime/cmake/opgenCache.cmake fills and uses.

Each entry is a folder `<part>-<key>` with a library, `entry.json` and the empty file `used`, whose time is that of the
last use. A folder `opgen_new-<random>` is an entry that is being written, or that a killed build left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

_ENTRY = re.compile(
    r"(opgen_core|opgen_kernels|opgen_runtime|opgen_python|opgen_torch_stable)-[0-9a-f]{32}|(opgen_new)-[A-Za-z0-9]{16}"
)
_OFF = ("0", "off", "no", "false")
_ABANDONED_AFTER = 86400.0


def cache_folder(variables: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder that builds use with these environment variables; None if the cache is off or has no place.

    opgen_cache_folder in opgenCache.cmake has the same rules.
    """
    if variables.get("OPGEN_CACHE", "").lower() in _OFF:
        return None
    if variables.get("OPGEN_CACHE_DIR", "").startswith("/"):
        return Path(variables["OPGEN_CACHE_DIR"])
    if variables.get("XDG_CACHE_HOME", "").startswith("/"):
        return Path(variables["XDG_CACHE_HOME"], "opgen")
    home = variables.get("HOME", "")
    if not home.startswith("/"):
        return None
    return Path(home, "Library/Caches" if sys.platform == "darwin" else ".cache", "opgen")


class Entry(Struct, frozen=True):
    """A compiled part: its folder, its name, the configuration it was built for, its size in bytes, the days since its last use."""

    folder: Path
    part: str
    made_for: str
    size: int
    unused_days: float


def entries(folder: Path) -> list[Entry]:
    """Return the entries of a cache, the latest used first; those that are damaged or half-written, too."""
    found = []
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    for name in names:
        match = _ENTRY.fullmatch(name)
        if match:
            found.append(_entry(folder / name, match[1] or match[2]))
    return sorted(found, key=lambda entry: entry.unused_days)


def _entry(folder: Path, part: str) -> Entry:
    made_for = "half-written" if part == "opgen_new" else "damaged"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        made_for = str(json.loads((folder / "entry.json").read_bytes())["made_for"])
    size = 0
    used = 0.0
    with contextlib.suppress(OSError):
        used = folder.stat().st_mtime
        for file in folder.iterdir():
            status = file.stat()
            size += status.st_size
            used = max(used, status.st_mtime)
    return Entry(folder, part, made_for, size, max(0.0, time.time() - used) / 86400)


def remove(found: list[Entry]) -> int:
    """Remove entries, and return the bytes that they had. Builds that are running compile the parts themselves, or have
    copies already.

    Raises OSError if a folder cannot be removed.
    """
    for entry in found:
        if entry.folder.is_symlink() or not entry.folder.is_dir():
            entry.folder.unlink()
        else:
            shutil.rmtree(entry.folder)
    return sum(entry.size for entry in found)


def unused(found: list[Entry], days: float) -> list[Entry]:
    """Return the entries that no build has used for `days`, and those that killed builds left behind a day ago."""
    left = _ABANDONED_AFTER / 86400
    return [
        entry
        for entry in found
        if entry.unused_days >= (min(days, left) if entry.part == "opgen_new" else days)
    ]
