"""Bytes into files, each by one step of the file system: a kill leaves a file as it was or as it is to be.

Whatever opgen writes goes through here. The system is not asked to put anything onto the disk at
once (fsync), so a loss of power is another matter than a kill.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: two runs at once are not told apart there.
    fcntl = None  # type: ignore[assignment]

# The names of temporary files. Of a killed run one is left, which the next run may remove.
_TEMPORARY = re.compile(r"\.opgen-[0-9a-f]{16}\.tmp")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


# Size, time of the last change in nanoseconds, inode: whoever changes a file changes one of them, but for
# a change within one tick of the file system's clock.
FileState = tuple[int, int, int]


class Locked(Exception):
    """Another process holds the lock of a folder."""


def is_temporary(name: str) -> bool:
    """Whether a file of this name is a temporary one of ours."""
    return _TEMPORARY.fullmatch(name) is not None


def state_of(found: os.stat_result) -> FileState:
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def replace_file(path: Path | str, content: bytes, *, mode: int | None = None) -> FileState:
    """Make `path` hold `content`, whether it is there or not. Raises OSError, and nothing changed.

    A symbolic link at `path` is replaced, never followed. `mode` is that of the new file; without it
    the system's default for new files. The state is that of the new file before anybody else sees it.
    """
    temporary, state = _write_beside(os.fspath(path), content, mode)
    try:
        os.replace(temporary, path)
    except BaseException:
        _unlink(temporary)
        raise
    return state


def rewrite_file(path: Path, content: bytes) -> None:
    """Change a file of the user: as `replace_file`, but it keeps its mode, and links are followed."""
    target = Path(os.path.realpath(path))
    replace_file(target, content, mode=stat.S_IMODE(target.stat().st_mode))


def create_file(path: Path, content: bytes) -> None:
    """Make a new file that holds `content`. Raises FileExistsError if anything stands at `path`."""
    temporary, _ = _write_beside(os.fspath(path), content, None)
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: the file appears at once, its content a moment later.
        with open(path, "xb") as file:
            file.write(content)
    finally:
        _unlink(temporary)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`, which exists. Raises Locked if another process has it.

    The lock is on the folder itself, so no file is left, and ends with the process however that
    ends. Where the file system has no such locks, there is none.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Locked(str(folder)) from None
    except OSError:
        # Network file systems may want a lock to be on a file that is open for writing.
        return


def _write_beside(path: str, content: bytes, mode: int | None) -> tuple[str, FileState]:
    """A new temporary file in the folder of `path` that holds `content`."""
    # Thousands of files are written in one run: a Path for each would take a third of the time.
    temporary = os.path.join(os.path.dirname(path), f".opgen-{os.urandom(8).hex()}.tmp")
    handle = os.open(temporary, _NEW_FILE, 0o666)
    try:
        try:
            _write_whole(handle, content)
            state = state_of(os.fstat(handle))
        finally:
            os.close(handle)
        if mode is not None:
            os.chmod(temporary, mode)
    except OSError as error:
        _unlink(temporary)
        # A write that fails for want of space does not say of which file.
        raise OSError(error.errno, error.strerror, path) from error
    except BaseException:
        _unlink(temporary)
        raise
    return temporary, state


def _write_whole(handle: int, content: bytes) -> None:
    written = os.write(handle, content)
    while written < len(content):
        written += os.write(handle, memoryview(content)[written:])


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        # Its folder may be gone. What is left, the next run removes.
        return
