"""The stamp of a folder: that it holds what a run would make, told without the run.

A run that wrote leaves `.opgen_stamp` beside its outputs: a key, and the state of every output. The key
is a digest of all that a run depends on: its options, the bytes that it read, opgen's own sources and
templates. The next run with the same key that finds every output in its state has nothing to do.

It is no output: a folder without it, or with one of another machine, is generated as ever. What keeps a
stamp from telling what is not so:

* A run reads the very bytes that the key is of, so an edit meanwhile belongs to the next run.
* The state of an output is asked of the open file, before it is read or after it is written.
* A clock has ticks. An output as young as the stamp may have been changed since within one of them, so
  it is not trusted.
* Links and folders that stand in for an output or its folder are other files. What a killed run left
  changes its folder, and is looked for at the top, which other files come and go in.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from opgen.dataclasses import dataclass, replace
from opgen.files import FileState, is_temporary, replace_file, state_of
from opgen.pipeline.inputs import MOST, Inputs, input_files, with_contents
from opgen.resources import own_files

STAMP = ".opgen_stamp"

_MAGIC = b"opgen stamp 1 "
# Of these, the installed version tells in what it makes of a text.
_LIBRARIES = ("jinja2", "yaml")
# Clocks of file systems tick every 1 to 10 ms. Where they tick by seconds there is no use in waiting.
_TICK_S = 0.004
_TICKS = 4


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked for, with the bytes that it reads, and the key of all that."""

    inputs: Inputs
    options: tuple[object, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a run would do: write none of the `outputs`, the manifest among them, and say `report`."""

    outputs: tuple[str, ...]
    report: str

    @property
    def unchanged(self) -> int:
        """How many files are as they were; no run counts the manifest."""
        return len(self.outputs) - 1


def read_request(inputs: Inputs, options: tuple[object, ...]) -> Request:
    """The request for a run with these inputs; `options` are all others that its results depend on.

    Its key is empty, which no stamp has, if a file cannot be read or is too large: the run reports that.
    """
    inputs = with_contents(inputs)
    return Request(inputs, options, _key(inputs, options))


def find_stamp(directory: Path, request: Request) -> Stamp | None:
    """What the stamp of `directory` says, if there is one for this request and it is still true."""
    top = os.fspath(directory)
    try:
        with open(os.path.join(top, STAMP), "rb") as file:
            stamped_ns = os.fstat(file.fileno()).st_mtime_ns
            head, _, body = file.read().partition(b"\n")
        if not request.key or head != _head(request.key, body):
            return None
        said = json.loads(body)
        if not _is_true(top, said["files"], said["folders"], stamped_ns):
            return None
    except (OSError, ValueError, KeyError):
        return None
    return Stamp(tuple(said["files"]), said["report"])


def leave_stamp(
    directory: Path, request: Request, states: Mapping[str, FileState], report: str
) -> None:
    """Stamp `directory`, where a run for `request` left its outputs, the manifest too, in `states`.

    Where none can be written, or something of another's has its name, the next run does its work again.
    """
    if not request.key or request.key != _key(request.inputs, request.options):
        return
    top = os.fspath(directory)
    path = directory / STAMP
    try:
        if os.path.lexists(path) and not path.read_bytes().startswith(_MAGIC):
            return
        folders = {
            name: _folder_state(os.lstat(os.path.join(top, name))) for name in _folders(states)
        }
        said = {"report": report, "folders": folders, "files": states}
        body = json.dumps(said, separators=(",", ":")).encode()
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
    """A digest of all that a run depends on; empty if there is a file that `inputs` have no bytes of."""
    paths = input_files(inputs)
    contents = [inputs.overlay[path] for path in paths if path in inputs.overlay]
    if len(contents) < len(paths) or any(len(content) > MOST for content in contents):
        return ""
    asked = repr((replace(inputs, overlay={}), options, sys.version, *_library_states()))
    found = hashlib.sha256()
    for part in (asked.encode(errors="surrogateescape"), *contents, *_own_sources()):
        found.update(hashlib.sha256(part).digest())
    return found.hexdigest()


def _own_sources() -> Iterator[bytes]:
    for path in own_files():
        with open(path, "rb") as file:
            yield file.read()


def _library_states() -> Iterator[FileState]:
    for name in _LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            yield state_of(os.stat(spec.origin))


def _folders(paths: Iterable[str]) -> tuple[str, ...]:
    """The folders that `paths` lie in, but for the top."""
    found = dict.fromkeys(path.rpartition("/")[0] for path in paths)
    for folder in tuple(found):
        while folder:
            found[folder] = None
            folder = folder.rpartition("/")[0]
    return tuple(folder for folder in found if folder)


def _folder_state(found: os.stat_result) -> FileState:
    return (0 if stat.S_ISDIR(found.st_mode) else 1, found.st_mtime_ns, found.st_ino)


def _is_true(
    top: str,
    files: Mapping[str, list[int]],
    folders: Mapping[str, list[int]],
    stamped_ns: int,
) -> bool:
    """Whether every file and folder is as it was, and older than the stamp."""
    if any(map(is_temporary, os.listdir(top))):
        return False
    for path, (kind, mtime_ns, inode) in folders.items():
        if _folder_state(os.lstat(f"{top}/{path}")) != (kind, mtime_ns, inode):
            return False
    for path, (size, mtime_ns, inode) in files.items():
        found = os.lstat(f"{top}/{path}")
        if (
            found.st_mtime_ns != mtime_ns
            or found.st_ino != inode
            or found.st_size != size
            or mtime_ns >= stamped_ns
        ):
            return False
    return True
