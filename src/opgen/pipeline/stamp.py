"""The stamp of a folder: that it holds what a run would make, told without the run.

A run that wrote leaves `.opgen_stamp` beside its outputs: a key, and the state of every output. The key
is a digest of all that a run depends on: its options, the bytes that it read, opgen's own sources and
templates. The next run with the same key that finds every output in its state has nothing to do. Where only
the schemas have changed, it can go on from those that the stamp holds, too (`editing.py`).

It is no output: a folder without it, or with one of another machine, is generated as ever. What keeps a
stamp from telling what is not so:

* A run reads the very bytes that the key is of, so an edit meanwhile belongs to the next run.
* The state of an output is asked of the open file, before it is read or after it is written.
* A clock has ticks. An output as young as the stamp may have been changed since within one of them, so
  it is not trusted. Where they take more than milliseconds, an edit in the tick of the run is likely enough for
  there to be no stamp.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opgen.dataclasses import dataclass, replace
from opgen.files import FileState, is_temporary, read_regular, replace_file, state_of
from opgen.pipeline.inputs import MOST, Inputs, input_files, with_contents
from opgen.resources import own_files

STAMP = ".opgen_stamp"

# Whatever opgen left it: this one, or an older one, whose stamp says nothing to this.
_OURS = b"opgen stamp "
_MAGIC = _OURS + b"2 "
# Of these, the installed version tells in what it makes of a text.
_LIBRARIES = ("jinja2", "yaml")
# Clocks of file systems tick every 1 to 10 ms. Where they tick by seconds there is no use in waiting.
_TICK_S = 0.004
_TICKS = 4
# All times of a file system whose clock ticks slowly are whole numbers of these; one in so many of another's is.
_SLOW_TICK_NS = 10_000_000
_MAX_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked for, with the bytes that it reads, and the key of all that.

    `frame` is a key of all but the schemas' bytes: what an edit of an operator leaves as it is.
    """

    inputs: Inputs
    options: tuple[object, ...]
    key: str
    frame: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the last run left in a folder where nothing was touched since.

    The state of each of its `outputs`, the manifest among them; what it said, its `report`; and the texts of
    the schemas, file by file. If it `is_current`, another run would write nothing and say the same.
    """

    outputs: Mapping[str, Sequence[int]]
    report: str
    schemas: Sequence[str]
    is_current: bool

    def states(self) -> dict[str, FileState]:
        """The state of each output."""
        return {path: (size, ns, inode) for path, (size, ns, inode) in self.outputs.items()}

    @property
    def unchanged(self) -> int:
        """How many files are as they were; no run counts the manifest."""
        return len(self.outputs) - 1


def read_request(inputs: Inputs, options: tuple[object, ...]) -> Request:
    """The request for a run with these inputs; `options` are all others that its results depend on.

    Its key is empty, which no stamp has, if a file cannot be read or is too large: the run reports that.
    """
    inputs = with_contents(inputs)
    return Request(inputs, options, *_keys(inputs, options))


def find_stamp(directory: Path, request: Request) -> Stamp | None:
    """The stamp of `directory`, if it is true, and of a run that differed from this one in its schemas at most."""
    top = os.fspath(directory)
    try:
        (_, stamped_ns, _), content = read_regular(os.path.join(top, STAMP), _MAX_BYTES)
        head, _, body = content.partition(b"\n")
        key = head.removeprefix(_MAGIC).split(b" ")[0].decode()
        if not request.key or head != _head(key, body):
            return None
        said = json.loads(body)
        if said["frame"] != request.frame:
            return None
        if not _is_true(top, said["files"], said["folders"], stamped_ns):
            return None
        return _stamp_of(said, key == request.key)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # Nobody but opgen writes one: whatever this is, everything is generated.
        return None


def _stamp_of(said: Mapping[str, Any], is_current: bool) -> Stamp | None:
    """The stamp that says so; None if it is of another form. What it says of files was compared with them."""
    report, schemas = said["report"], said["schemas"]
    if not said["files"] or not all(isinstance(text, str) for text in (report, *schemas)):
        return None
    return Stamp(said["files"], report, schemas, is_current)


def leave_stamp(
    directory: Path, request: Request, states: Mapping[str, FileState], report: str
) -> None:
    """Stamp `directory`, where a run for `request` left its outputs, the manifest too, in `states`.

    Where none can be written, or something of another's has its name, the next run does its work again.
    """
    inputs = request.inputs
    if not request.key or request.key != _keys(inputs, request.options)[0]:
        return
    top = os.fspath(directory)
    path = directory / STAMP
    try:
        if os.path.lexists(path) and read_regular(path, len(_OURS))[1] != _OURS:
            return
        folders = {
            name: _folder_state(os.lstat(os.path.join(top, name))) for name in _folders(states)
        }
        schemas = [inputs.overlay[yaml].decode() for yaml in inputs.yaml]
        said = {
            "frame": request.frame,
            "report": report,
            "folders": folders,
            "files": states,
            "schemas": schemas,
        }
        body = json.dumps(said, separators=(",", ":")).encode()
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


def _keys(inputs: Inputs, options: tuple[object, ...]) -> tuple[str, str]:
    """Digests of all that a run depends on, and of that without the schemas.

    They are empty if there is a file that `inputs` have no bytes of.
    """
    paths = input_files(inputs)
    contents = [inputs.overlay[path] for path in paths if path in inputs.overlay]
    if len(contents) < len(paths) or any(len(content) > MOST for content in contents):
        return "", ""
    schemas, others = contents[: len(inputs.yaml)], contents[len(inputs.yaml) :]
    asked = repr((replace(inputs, overlay={}), options, sys.version, *_library_states()))
    frame = _digest((asked.encode(errors="surrogateescape"), *others, *_own_sources()))
    return _digest((frame.encode(), *schemas)), frame


def _digest(parts: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(hashlib.sha256(part).digest())
    return found.hexdigest()


def _own_sources() -> Iterator[bytes]:
    for path in own_files():
        # Unbuffered: 300 files are read in three quarters of the time.
        with open(path, "rb", buffering=0) as file:
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
