"""Bytes into files, each by one step of the file system: a kill leaves a file as it was or as it is to be.

Whatever opgen writes goes through here. The system is not asked to put anything onto the disk at
once (fsync), so a loss of power is another matter than a kill.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
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
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


class Locked(Exception):
    """Another process holds the lock of a folder."""


def is_temporary(name: str) -> bool:
    """Whether a file of this name is a temporary one of ours."""
    return _TEMPORARY.fullmatch(name) is not None


def replace_file(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Make `path` hold `content`, whether it is there or not. Raises OSError, and nothing changed.

    A symbolic link at `path` is replaced, never followed. `mode` is that of the new file; without it
    the system's default for new files.
    """
    temporary = _write_beside(path, content, mode)
    try:
        os.replace(temporary, path)
    except BaseException:
        _unlink(temporary)
        raise


def rewrite_file(path: Path, content: bytes) -> None:
    """Change a file of the user: as `replace_file`, but it keeps its mode, and links are followed."""
    target = Path(os.path.realpath(path))
    replace_file(target, content, mode=stat.S_IMODE(target.stat().st_mode))


def create_file(path: Path, content: bytes) -> None:
    """Make a new file that holds `content`. Raises FileExistsError if anything stands at `path`."""
    temporary = _write_beside(path, content, None)
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


def _write_beside(path: Path, content: bytes, mode: int | None) -> Path:
    """A new temporary file in the folder of `path` that holds `content`."""
    temporary = path.parent / f".opgen-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if mode is not None:
            os.chmod(temporary, mode)
    except OSError as error:
        _unlink(temporary)
        # A write that fails for want of space does not say of which file.
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        _unlink(temporary)
        raise
    return temporary


def _unlink(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        # Its folder may be gone. What is left, the next run removes.
        return
