"""Bytes into files, each by one step of the file system: a kill leaves a file as it was or as it is to be.

Whatever opgen writes goes through here. The system is not asked to put anything onto the disk at
once (fsync), so a loss of power is another matter than a kill.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: two runs at once are not told apart there.
    fcntl = None  # type: ignore[assignment]

# The names of temporary files. Of a killed run one is left, which the next run in its folder removes.
_TEMPORARY = re.compile(r"\.opgen-[0-9a-f]{16}\.tmp")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_OLD_FILE = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
PATIENCE_S = 10.0
_PAUSE_S = 0.02
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


# Size, time of the last change in nanoseconds, inode: whoever changes a file changes one of them, but for
# a change within one tick of the file system's clock.
FileState = tuple[int, int, int]


class Locked(Exception):
    """Another process holds the lock of a folder."""


def is_temporary(name: str) -> bool:
    """Whether a file of this name is a temporary one of ours."""
    return _TEMPORARY.fullmatch(name) is not None


def temporary_name() -> str:
    return f".opgen-{os.urandom(8).hex()}.tmp"


def state_of(found: os.stat_result) -> FileState:
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def replace_file(path: Path | str, content: bytes) -> FileState:
    """Make `path` hold `content`, whether it is there or not. Raises OSError, and nothing changed.

    A symbolic link at `path` is replaced, never followed. The mode is the system's default for new files. The
    state is that of the new file before anybody else sees it.
    """
    temporary, state = _write_beside(os.fspath(path), content)
    try:
        os.replace(temporary, path)
    except BaseException:
        _unlink(temporary)
        raise
    return state


def rewrite_file(path: Path, content: bytes) -> None:
    """Change a file of the user: as `replace_file`, but it keeps its mode and owner, and links are followed.

    Raises OSError for a file that is not to be written, and for one that has other names: these would keep
    the old content.
    """
    target = Path(os.path.realpath(path))
    found = target.stat()
    if not found.st_mode & _ANY_WRITE or not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "it is read-only", str(path))
    if found.st_nlink > 1:
        raise OSError(errno.EMLINK, "it has other names (hard links)", str(path))
    with alone_in(target.parent):
        temporary, _ = _write_beside(os.fspath(target), content)
        try:
            new = os.stat(temporary)
            if (new.st_uid, new.st_gid) != (found.st_uid, found.st_gid):
                os.chown(temporary, found.st_uid, found.st_gid)
            # Last: a new owner takes some of the mode away.
            os.chmod(temporary, stat.S_IMODE(found.st_mode))
            os.replace(temporary, target)
        except BaseException:
            _unlink(temporary)
            raise


def replace_users_file(path: Path, content: bytes) -> None:
    """`replace_file` in a folder of the user's."""
    with alone_in(path.parent):
        replace_file(path, content)


def create_file(path: Path, content: bytes) -> None:
    """Make a new file that holds `content`. Raises FileExistsError if anything stands at `path`."""
    with alone_in(path.parent):
        _create_file(path, content)


def _create_file(path: Path, content: bytes) -> None:
    temporary, _ = _write_beside(os.fspath(path), content)
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


def read_regular(path: Path | str, most: int = -1) -> tuple[FileState, bytes]:
    """The state and bytes of a regular file, at most so many. Raises OSError for anything else.

    That is a link, a folder, or a pipe, which would be waited for. The state is that before it was read.
    """
    handle = os.open(path, _OLD_FILE)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        with open(handle, "rb", buffering=0, closefd=False) as file:
            return state_of(found), file.read() if most < 0 else file.read(most)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path, *, patience_s: float = 0.0) -> Iterator[Callable[[], None]]:
    """Hold the lock of `folder`, which exists. Raises Locked if another process has it for longer than that.

    The lock is on the folder itself, so no file is left, and ends with the process however that
    ends. Where the file system has no such locks, there is none. What is yielded raises OSError if another folder
    has taken the place of the locked one.
    """
    if fcntl is None:
        yield lambda: None
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        end = time.monotonic() + patience_s
        while not _lock(handle):
            if time.monotonic() >= end:
                raise Locked(str(folder))
            time.sleep(_PAUSE_S)
        yield lambda: _check_same(handle, folder)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Network file systems may want a lock to be on a file that is open for writing.
        return True
    return True


def _check_same(handle: int, folder: Path) -> None:
    if not os.path.samestat(os.fstat(handle), os.stat(folder)):
        raise OSError(errno.ESTALE, "another folder has taken its place", str(folder))


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of the user's, which exists, where killed runs have left nothing then.

    Others are waited for: what they do takes no time. Raises OSError if it does.
    """
    try:
        with locked(folder, patience_s=PATIENCE_S):
            remove_temporaries(os.fspath(folder))
            yield
    except Locked:
        raise OSError(errno.EBUSY, "another opgen is writing there", str(folder)) from None


def remove_temporaries(folder: str) -> None:
    """Remove what killed runs left in a folder whose lock is held."""
    try:
        found = [name for name in os.listdir(folder) if is_temporary(name)]
    except OSError:
        return
    if not found:
        return
    import shutil  # noqa: PLC0415  (only after a kill)

    for name in found:
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            _unlink(path)


def _write_beside(path: str, content: bytes) -> tuple[str, FileState]:
    """A new temporary file in the folder of `path` that holds `content`."""
    # Thousands of files are written in one run: a Path for each would take a third of the time.
    temporary = os.path.join(os.path.dirname(path), temporary_name())
    handle = os.open(temporary, _NEW_FILE, 0o666)
    try:
        try:
            _write_whole(handle, content)
            state = state_of(os.fstat(handle))
        finally:
            os.close(handle)
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
