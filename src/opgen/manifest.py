"""opgen_manifest.json, the list of the files of a folder that are opgen's: read, judged, printed.

A run writes it twice. Before any other file it gets `pending`, the digests of what is about to be
written, beside the old `files`; after the last one it is the new list alone. So whenever a run ends,
a file is opgen's if `files` has its path or `pending` the digest of its bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import shorten
from opgen.files import read_regular

MANIFEST = "opgen_manifest.json"
MANIFEST_FORMAT = 1
# It has a line for each file and operator: PyTorch's has 3 MB.
MAX_MANIFEST_BYTES = 30_000_000
_HINT = "move it away, or generate into another directory"
# Names of what can be printed, none of them `.` or `..`, and no more folders in each other than a system can look at.
_NAME = r"(?!\.{1,2}(?:/|\Z))[ -.0-\[\]-~]{1,255}"
_SAFE_PATH = re.compile(rf"(?:{_NAME}/){{0,63}}{_NAME}")
_MAX_PATH = 1000


@dataclass(frozen=True, slots=True)
class Manifest:
    """Path to digest: of the files that a finished run left, and of those that one was writing."""

    files: Mapping[str, str] = field(default_factory=dict)
    pending: Mapping[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset((*self.files, *self.pending))


def digest(data: bytes) -> str:
    """SHA-256 of `data`, in hexadecimal, shortened to 128 bits."""
    return hashlib.sha256(data).hexdigest()[:32]


def manifest_text(manifest: Mapping[str, Any]) -> str:
    return joined_parts(manifest_parts(manifest))


def manifest_parts(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The values of a manifest as text: a run writes two manifests that have most of them in common."""
    return {key: _indented(value, " ") for key, value in manifest.items()}


def joined_parts(parts: Mapping[str, str]) -> str:
    """The text of the manifest that has these parts."""
    rows = [f" {encode_basestring(key)}: {parts[key]}" for key in sorted(parts)]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _indented(value: object, margin: str) -> str:
    """JSON with sorted keys and an indent of one.

    As json.dumps writes it, whose C part cannot indent: its other part takes four times as long.
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
    """What the manifest of `directory` says; an empty one where there is none; None after E0902."""
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
    return Manifest(value["files"], value.get("pending", {}))


def _problem(value: object) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("files"), dict):
        return "it has no list of files"
    if value.get("format") != MANIFEST_FORMAT:
        found = shorten(ascii(value.get("format")))
        return f"its format is {found}, not {MANIFEST_FORMAT}"
    pending = value.get("pending", {})
    if not isinstance(pending, dict):
        return "its list of pending files is none"
    for path, found in (*value["files"].items(), *pending.items()):
        if not is_safe_path(path):
            return f"{shorten(ascii(path))} is no path inside the directory"
        if not isinstance(found, str):
            return f"the digest of {path} is no text"
    return None


def is_safe_path(path: str) -> bool:
    """Whether `path` is relative, in normal form, stays inside its directory, and can be printed as it is."""
    return len(path) <= _MAX_PATH and path != MANIFEST and _SAFE_PATH.fullmatch(path) is not None
