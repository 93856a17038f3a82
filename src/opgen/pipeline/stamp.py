"""Read and write the stamp of a folder, which tells whether a run would change anything there.

A run that writes files leaves `.opgen_stamp` in the folder, with a key and the state of every output. The key is a digest
of everything that the outputs depend on: the options, the bytes of the inputs, opgen's own sources and templates. If the next run
has the same key and finds every output unchanged, it has nothing to do.

The stamp is not an output: a folder without it, or with the stamp of another machine, is generated completely. These rules
keep a stamp true:

* A run uses the very bytes from which the key was computed, so an edit during the run belongs to the next one.
* The state of an output is queried on the open file, before it is read or after it is written.
* An output that is not older than the stamp is not trusted: it may have been changed since, within one tick of the file
  system's clock. If ticks take more than milliseconds, there is no stamp, because such edits are likely.
* A link or folder in the place of an output or its folder has another state. Files that a killed run left change the
  time of their folder, except in the top folder, where other files come and go; there opgen looks for them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from opgen.data import own_files
from opgen.io.files import (
    MAX_BYTES,
    FileState,
    folders_of,
    is_temporary,
    read_regular,
    replace_file,
    state_of,
)
from opgen.pipeline.inputs import Inputs, input_files, with_contents

STAMP = ".opgen_stamp"

# The first bytes of a stamp of any version, and of this version.
_OURS = b"opgen stamp "
_MAGIC = _OURS + b"3 "
# Libraries whose installed version may change the outputs.
_LIBRARIES = ("jinja2", "yaml")
# Clocks of file systems tick every 1 to 10 ms. If a clock ticks only every second, waiting would take too long.
_TICK_S = 0.004
_TICKS = 4
# If the clock ticks slowly, all times are multiples of this.
_SLOW_TICK_NS = 10_000_000
_MAX_STAMP_BYTES = 100_000_000


class Request(Struct, frozen=True):
    """The inputs of a run with their bytes, the other options that its results depend on, and the key of both."""

    inputs: Inputs
    options: tuple[object, ...]
    key: str


class Stamp(Struct, frozen=True):
    """The stamp of a folder in which nothing has changed since: another run would write nothing and print the same.

    It has the state of each of the `outputs`, including the manifest, and the `report` that the run printed.
    """

    outputs: Mapping[str, Sequence[int]]
    report: str

    @property
    def unchanged(self) -> int:
        """The number of unchanged files; the manifest does not count."""
        return len(self.outputs) - 1


def read_request(inputs: Inputs, options: tuple[object, ...]) -> Request:
    """Read the inputs; `options` are all other values that the results of the run depend on.

    If a file cannot be read or is too large, which the run will report, the key is empty, and matches no stamp.
    """
    inputs = with_contents(inputs)
    return Request(inputs, options, _key(inputs, options))


def find_stamp(directory: Path, request: Request) -> Stamp | None:
    """Return the stamp of `directory`, if it is true and of a run with the same key."""
    top = os.fspath(directory)
    try:
        (_, stamped_ns, _), content = read_regular(os.path.join(top, STAMP), _MAX_STAMP_BYTES)
        head, _, body = content.partition(b"\n")
        if not request.key or head != _head(request.key, body):
            return None
        values = json.loads(body)
        if not _is_true(top, values["files"], values["folders"], stamped_ns):
            return None
        files, report = values["files"], values["report"]
        return Stamp(files, report) if files and isinstance(report, str) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # Not written by this opgen, or damaged: the whole tree is generated.
        return None


def leave_stamp(
    directory: Path, request: Request, states: Mapping[str, FileState], report: str
) -> None:
    """Write the stamp of `directory`, after a run for `request` that left its outputs and the manifest in `states`.

    If it cannot be written, or if a file that is not opgen's has its name, the next run generates everything.
    """
    inputs = request.inputs
    if not request.key or request.key != _key(inputs, request.options):
        return
    top = os.fspath(directory)
    path = directory / STAMP
    try:
        if os.path.lexists(path) and read_regular(path, len(_OURS))[1] != _OURS:
            return
        names = sorted(folders_of(states) - {"."})
        folders = {name: _folder_state(os.lstat(os.path.join(top, name))) for name in names}
        values = {"report": report, "folders": folders, "files": states}
        body = json.dumps(values, separators=(",", ":")).encode()
        if not any(state[1] % _SLOW_TICK_NS for state in states.values()):
            return
        newest = max(state[1] for state in (*states.values(), *folders.values()))
        for _ in range(_TICKS):
            if replace_file(path, _head(request.key, body) + b"\n" + body)[1] > newest:
                return
            time.sleep(_TICK_S)
    except OSError:
        return


def _head(key: str, body: bytes) -> bytes:
    return _MAGIC + f"{key} {hashlib.sha256(body).hexdigest()}".encode()


def _key(inputs: Inputs, options: tuple[object, ...]) -> str:
    """Return the digest of everything that the results depend on; empty if `inputs` lack the bytes of a file."""
    paths = input_files(inputs)
    contents = [inputs.overlay[path] for path in paths if path in inputs.overlay]
    if len(contents) < len(paths) or any(len(content) > MAX_BYTES for content in contents):
        return ""
    specs = filter(None, map(importlib.util.find_spec, _LIBRARIES))
    libraries = [state_of(os.stat(spec.origin)) for spec in specs if spec.origin is not None]
    asked = repr((replace(inputs, overlay={}), options, sys.version, *libraries))
    found = hashlib.sha256()
    for part in (asked.encode(errors="surrogateescape"), *contents, *_own_sources()):
        found.update(hashlib.sha256(part).digest())
    return found.hexdigest()


def _own_sources() -> Iterator[bytes]:
    for path in own_files():
        # Unbuffered, 300 files take three quarters of the time.
        with open(path, "rb", buffering=0) as file:
            yield file.read()


def _folder_state(found: os.stat_result) -> FileState:
    return (0 if stat.S_ISDIR(found.st_mode) else 1, found.st_mtime_ns, found.st_ino)


def _is_true(
    top: str,
    files: Mapping[str, list[int]],
    folders: Mapping[str, list[int]],
    stamped_ns: int,
) -> bool:
    """Return whether every file and folder is unchanged, and every file older than the stamp."""
    return (
        not any(map(is_temporary, os.listdir(top)))
        and all(
            _folder_state(os.lstat(f"{top}/{path}")) == tuple(state)
            for path, state in folders.items()
        )
        and all(
            state[1] < stamped_ns and state_of(os.lstat(f"{top}/{path}")) == tuple(state)
            for path, state in files.items()
        )
    )
