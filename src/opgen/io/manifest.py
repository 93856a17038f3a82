"""Read, check and print opgen_manifest.json, the list of a folder's generated files.

A run writes it twice. Before it touches any other file, it adds `pending`, the digests of the contents that it is about
to write, to the old list; when all files are written, it replaces both by the new list. So, also after a run that was
killed, a file is opgen's if `files` has its path or `pending` has the digest of its bytes.

The manifest of a finished run has no digest, because it is committed: a digest of a file that all operators share would
be a merge conflict between any two branches that add operators. `.opgen_stamp_digests` keeps them outside of version
control: a file that is no longer generated is removed only if its digest shows that nobody edited it. A clone has no
digests; there the caller of `writer.write` may generate the file again to compare it. The first digests come with a
`.gitignore` for them and the stamp, which is never changed after that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import msgspec.json
from msgspec import Struct, field

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import shorten
from opgen.io.files import MAX_BYTES, create_locked, read_regular, replace_file

MANIFEST = "opgen_manifest.json"
MANIFEST_FORMAT = 2
_HINT = "move it away, or generate into another directory"
# Printable names except `.` and `..`, and no more nested folders than any system can open.
_NAME = r"(?!\.{1,2}(?:/|\Z))[ -.0-\[\]-~]{1,255}"
_SAFE_PATH = re.compile(rf"(?:{_NAME}/){{0,63}}{_NAME}")
_MAX_PATH = 1000


class Manifest(Struct, frozen=True):
    """The paths of generated files; `pending` are digests by path of the files that a run was about to write when it was
    killed. `header` has the other values, in any form.
    """

    files: frozenset[str] = frozenset()
    pending: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paths(self) -> frozenset[str]:
        return self.files.union(self.pending)


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal, shortened to 128 bits."""
    return hashlib.sha256(data).hexdigest()[:32]


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Print a manifest as JSON with sorted keys, one value on a line."""
    text = msgspec.json.encode(manifest, order="deterministic")
    return msgspec.json.format(text, indent=1) + b"\n"


def read_manifest(directory: Path, diagnostics: Diagnostics) -> Manifest | None:
    """Read the manifest of `directory`; return an empty one if there is none, and None after E0902."""
    path = directory / MANIFEST
    try:
        content = read_regular(path, MAX_BYTES + 1)[1]
        if len(content) > MAX_BYTES:
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
    header = {key: value[key] for key in value.keys() - {"files", "pending", "format"}}
    return Manifest(frozenset(value["files"]), value.get("pending", {}), header)


def _problem(value: object) -> str | None:
    if not isinstance(value, dict):
        return "it has no list of files"
    format, files, pending = value.get("format"), value.get("files"), value.get("pending", {})
    if format != MANIFEST_FORMAT:
        return f"its format is {shorten(ascii(format))}, not {MANIFEST_FORMAT}"
    if not isinstance(files, list):
        return "it has no list of files"
    if not isinstance(pending, dict):
        return "its list of pending files is not a list of digests"
    for path in (*files, *pending):
        if not isinstance(path, str) or not is_safe_path(path):
            return f"{shorten(ascii(path))} is not a path inside the directory"
    for path, found in pending.items():
        if not isinstance(found, str):
            return f"the digest of {path} is not a string"
    return None


def is_safe_path(path: str) -> bool:
    """Return whether `path` is relative, in normal form, inside its directory, and printable as it is."""
    return len(path) <= _MAX_PATH and path != MANIFEST and _SAFE_PATH.fullmatch(path) is not None


DIGESTS = ".opgen_stamp_digests"
# The first line, in this version and any other; then a line for each file: PyTorch's have 0.7 MB.
_MAGIC = b"opgen digests "
_HEAD = _MAGIC + b"1\n"
_ROW = re.compile(r"^([0-9a-f]{32}) ([ -~]+)$", re.MULTILINE)
_MAX_BYTES = 30_000_000
_GITIGNORE = b"""\
# Written by opgen: these files are valid on one machine only.
/.opgen_stamp
/.opgen_stamp_digests
"""


def read_digests(directory: Path) -> dict[str, str]:
    """Return the digest of each generated file by path; empty if none are kept."""
    content = _read(directory)
    if content is None or not content.startswith(_HEAD):
        return {}
    return {path: digest for digest, path in _ROW.findall(content.decode(errors="replace"))}


def write_digests(directory: Path, digests: Mapping[str, str], *, required: bool = False) -> None:
    """Keep `digests` in `directory`, whose lock is held, unless a file that is not opgen's has the name.

    If they cannot be written, the next run has old ones or none, and at worst keeps a file that it could remove; with
    `required`, raises OSError.
    """
    rows = "".join(f"{digest} {path}\n" for path, digest in sorted(digests.items()))
    new, old = _HEAD + rows.encode(), _read(directory)
    if new == old or old is None or not old.startswith(_MAGIC[: len(old)]):
        return
    with nullcontext() if required else suppress(OSError):
        replace_file(directory / DIGESTS, new)
    if not old:
        # The user may have one already.
        with suppress(OSError):
            create_locked(directory / ".gitignore", _GITIGNORE)


def _read(directory: Path) -> bytes | None:
    """Return the bytes of the file, empty if there is none; None if it cannot be read or is not a regular file."""
    try:
        return read_regular(directory / DIGESTS, _MAX_BYTES)[1]
    except FileNotFoundError:
        return b""
    except OSError:
        return None
