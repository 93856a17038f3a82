"""Read, check and print opgen_manifest.json, the list of a folder's generated files.

A run writes it twice. Before it touches any other file, it adds `pending`, the digests of the contents that it is about
to write, to the old list; when all files are written, it replaces both by the new list. So, also after a run that was
killed, a file is opgen's if `files` has its path or `pending` has the digest of its bytes.

The manifest of a finished run has no digest, because it is committed: a digest of a file that all operators share would
be a merge conflict between any two branches that add operators. `digests.py` keeps them outside of version control.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import shorten
from opgen.io.files import read_regular

MANIFEST = "opgen_manifest.json"
MANIFEST_FORMAT = 2
# Format 1 had digests: `files` was an object of them by path.
_FORMATS = (1, MANIFEST_FORMAT)
# The manifest has a line for each file and operator: PyTorch's has 3 MB.
MAX_MANIFEST_BYTES = 30_000_000
_HINT = "move it away, or generate into another directory"
# Printable names except `.` and `..`, and no more nested folders than any system can open.
_NAME = r"(?!\.{1,2}(?:/|\Z))[ -.0-\[\]-~]{1,255}"
_SAFE_PATH = re.compile(rf"(?:{_NAME}/){{0,63}}{_NAME}")
_MAX_PATH = 1000


class Manifest(Struct, frozen=True):
    """The paths of generated files; `pending` and `digests` are digests by path.

    `pending` is of the files that a run was about to write when it was killed. `digests` is of finished files, and
    empty except in a manifest of format 1. `header` has the other values, in any form.
    """

    files: frozenset[str] = frozenset()
    pending: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paths(self) -> frozenset[str]:
        return self.files.union(self.pending)


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal, shortened to 128 bits."""
    return hashlib.sha256(data).hexdigest()[:32]


def manifest_text(manifest: Mapping[str, Any]) -> str:
    return join_parts(manifest_parts(manifest))


def manifest_parts(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Print each value of a manifest: the two manifests that a run writes have most values in common."""
    return {key: _indented(value, " ") for key, value in manifest.items()}


def join_parts(parts: Mapping[str, str]) -> str:
    """Return the text of the manifest whose printed values are `parts`."""
    rows = [f" {encode_basestring(key)}: {parts[key]}" for key in sorted(parts)]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _indented(value: object, margin: str) -> str:
    """Print JSON with sorted keys and an indent of one.

    json.dumps prints the same in four times the time: its C code cannot indent.
    """
    inner = f"{margin} "
    match value:
        case str():
            return encode_basestring(value)
        case dict() if value:
            rows = [
                f"{inner}{encode_basestring(k)}: {_indented(value[k], inner)}"
                for k in sorted(value)
            ]
            return "{\n" + ",\n".join(rows) + f"\n{margin}}}"
        case list() | tuple() if value:
            return "[\n" + ",\n".join([inner + _indented(v, inner) for v in value]) + f"\n{margin}]"
        case _:
            return json.dumps(value)


def read_manifest(directory: Path, diagnostics: Diagnostics) -> Manifest | None:
    """Read the manifest of `directory`; return an empty one if there is none, and None after E0902."""
    path = directory / MANIFEST
    try:
        content = read_regular(path, MAX_MANIFEST_BYTES + 1)[1]
        if len(content) > MAX_MANIFEST_BYTES:
            raise ValueError
        value = json.loads(content)
    except FileNotFoundError:
        return Manifest()
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        message = f"{path} cannot be read ({why})"
        diagnostics.error("E0902", message, None, hint=_HINT)
        return None
    problem = _problem(value)
    if problem:
        message = f"{path} is not a manifest of this opgen: {problem}"
        diagnostics.error("E0902", message, None, hint=_HINT)
        return None
    files = value["files"]
    digests = files if isinstance(files, dict) else {}
    header = {key: value[key] for key in value.keys() - {"files", "pending", "format"}}
    return Manifest(frozenset(files), value.get("pending", {}), digests, header)


def _problem(value: object) -> str | None:
    if not isinstance(value, dict):
        return "it has no list of files"
    format, files, pending = value.get("format"), value.get("files"), value.get("pending", {})
    if format not in _FORMATS or isinstance(format, bool):
        return f"its format is {shorten(ascii(format))}, not {MANIFEST_FORMAT}"
    if not isinstance(files, dict if format == 1 else list):
        return "it has no list of files"
    if not isinstance(pending, dict):
        return "its list of pending files is not a list of digests"
    for path in (*files, *pending):
        if not isinstance(path, str) or not is_safe_path(path):
            return f"{shorten(ascii(path))} is not a path inside the directory"
    digests = {**pending, **files} if isinstance(files, dict) else pending
    for path, found in digests.items():
        if not isinstance(found, str):
            return f"the digest of {path} is not a string"
    return None


def is_safe_path(path: str) -> bool:
    """Return whether `path` is relative, in normal form, inside its directory, and printable as it is."""
    return len(path) <= _MAX_PATH and path != MANIFEST and _SAFE_PATH.fullmatch(path) is not None
