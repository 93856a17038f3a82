"""Write files atomically: after a kill, each file, or new folder of files, is either old or new.

Everything that opgen writes is written here, and nothing but a regular file is ever replaced: a device, a pipe or a socket
stays. There is no fsync, so a loss of power may damage files.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing prevents two runs at once.
    fcntl = None  # type: ignore[assignment]

# The names of temporary files. If a killed run leaves one, the next run in its folder removes it.
_TEMPORARY = re.compile(r"\.opgen-[0-9a-f]{16}\.tmp")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_OLD_FILE = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
# The largest file that any run reads: a manifest, which has a line for each file and operator. PyTorch's has 3 MB.
MAX_BYTES = 30_000_000
PATIENCE_S = 10.0
_PAUSE_S = 0.02
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


# Size, time of the last change in nanoseconds, inode. Any change of a file changes one of them, except a change within one
# tick of the file system's clock.
FileState = tuple[int, int, int]


class Locked(Exception):
    """Another process holds the lock of a folder."""


def is_temporary(name: str) -> bool:
    """Return whether a file of this name is a temporary file of opgen."""
    return _TEMPORARY.fullmatch(name) is not None


def temporary_name() -> str:
    """Return a new name for which `is_temporary` holds."""
    return f".opgen-{os.urandom(8).hex()}.tmp"


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders of `paths` and all folders that contain these, and `.`."""
    found = {"."}
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def state_of(found: os.stat_result) -> FileState:
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def replace_file(path: Path | str, content: bytes) -> FileState:
    """Write `content` to `path`, whether the file exists or not; return the state of the new file.

    A symbolic link at `path` is replaced and not followed. The mode is the default for new files. Raises OSError, and
    changes nothing; also if `path` is a special file, or a link to one, such as /dev/stdout.
    """
    _refuse_special(path)
    temporary, state = _write_beside(os.fspath(path), content)
    try:
        os.replace(temporary, path)
    except BaseException:
        _unlink(temporary)
        raise
    return state


def rewrite_file(path: Path, content: bytes) -> None:
    """Replace the content of a user's file: as `replace_file`, but keep its mode and owner, and follow links.

    Raises OSError for a read-only file, and for a file with hard links, whose other names would keep the old content.
    """
    target = Path(os.path.realpath(path))
    _refuse_special(target)
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
            # Set last: a change of owner clears some bits of the mode.
            os.chmod(temporary, stat.S_IMODE(found.st_mode))
            os.replace(temporary, target)
        except BaseException:
            _unlink(temporary)
            raise


def replace_users_file(path: Path, content: bytes) -> None:
    """Replace a file as `replace_file` does, in a folder that is not an output of opgen, under its lock.

    The folder is created if it does not exist.
    """
    _make_folder(path.parent)
    with alone_in(path.parent):
        replace_file(path, content)


def create_file(path: Path, content: bytes) -> None:
    """Create a file with `content`, and its folder. Raises FileExistsError if `path` exists."""
    _make_folder(path.parent)
    with alone_in(path.parent):
        create_locked(path, content)


def create_locked(path: Path, content: bytes) -> None:
    """Create a file as `create_file` does, in a folder whose lock this process holds."""
    temporary, _ = _write_beside(os.fspath(path), content)
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without hard links, the file appears before its content.
        with open(path, "xb") as file:
            file.write(content)
    finally:
        _unlink(temporary)


def read_regular(path: Path | str, most: int = -1) -> tuple[FileState, bytes]:
    """Return the state of a regular file and then its bytes, at most `most` of them if that is not negative.

    Raises OSError for anything else, such as a link, a folder or a pipe, which would block.
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
    """Hold the lock of an existing folder; wait `patience_s` seconds for another process, then raise Locked.

    The lock is on the folder itself, so there is no lock file, and it ends with the process. On file systems without
    such locks, there is none. The yielded function raises OSError if another folder has replaced the locked one.
    """
    if fcntl is None:
        yield lambda: None
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    def check_same() -> None:
        if not os.path.samestat(os.fstat(handle), os.stat(folder)):
            raise OSError(errno.ESTALE, "another folder has replaced it", str(folder))

    try:
        end = time.monotonic() + patience_s
        while not _lock(handle):
            if time.monotonic() >= end:
                raise Locked(str(folder))
            time.sleep(_PAUSE_S)
        yield check_same
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Network file systems may allow locks only on files that are open for writing.
        return True
    return True


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of an existing folder, and remove the temporary files of killed runs.

    Waits for other processes, whose work takes no time. Raises OSError after PATIENCE_S.
    """
    try:
        with locked(folder, patience_s=PATIENCE_S):
            remove_temporaries(os.fspath(folder))
            yield
    except Locked:
        raise OSError(errno.EBUSY, "another opgen is writing there", str(folder)) from None


def remove_temporaries(folder: str) -> None:
    """Remove temporary files of killed runs from a folder whose lock is held."""
    with suppress(OSError):
        for name in filter(is_temporary, os.listdir(folder)):
            remove_temporary(os.path.join(folder, name))


def remove_temporary(path: str) -> None:
    """Remove a temporary file, or a temporary folder with all that is in it."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        _unlink(path)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        # The caller would take the file in the folder's place for the file to create.
        raise NotADirectoryError(
            errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(folder)
        ) from error


def _refuse_special(path: Path | str) -> None:
    """Raise OSError for a device, a pipe or a socket, or a link to one; renaming a file over it would end it."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))


def _write_beside(path: str, content: bytes) -> tuple[str, FileState]:
    """Write `content` to a new temporary file in the folder of `path`; return its path and state."""
    # A run writes thousands of files: with Path objects, that takes a third longer.
    temporary = os.path.join(os.path.dirname(path), temporary_name())
    try:
        return temporary, write_new_file(temporary, content)
    except BaseException as error:
        _unlink(temporary)
        if isinstance(error, OSError):
            # The error of a full disk does not name the file.
            raise OSError(error.errno, error.strerror, path) from error
        raise


def write_new_file(path: str, content: bytes) -> FileState:
    """Create the file `path` with `content`, and return its state. Raises OSError, and may leave a part of it then.

    For paths that nobody reads yet: that of a temporary file, or in a temporary folder.
    """
    handle = os.open(path, _NEW_FILE, 0o666)
    try:
        written = os.write(handle, content)
        while written < len(content):
            written += os.write(handle, memoryview(content)[written:])
        return state_of(os.fstat(handle))
    finally:
        os.close(handle)


def _unlink(path: str) -> None:
    # Its folder may be gone; else the next run removes the file.
    with suppress(OSError):
        os.unlink(path)


def create_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Create a folder, or fill an empty one, with `files` by their paths in it.

    Files that a killed run left are replaced, if they have the same paths and contents. Raises FileExistsError if anything
    else exists at `folder`, and OSError; then nothing is left of the new files.
    """
    folder = Path(os.path.abspath(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone_in(folder.parent):
        if os.path.isdir(folder):
            # The folder is filled, not replaced by a new one: it may be the working directory of a shell.
            with locked(folder, patience_s=PATIENCE_S):
                _fill(folder, files)
        elif os.path.lexists(folder):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
        else:
            place_new_folder(os.fspath(folder), files)


def place_new_folder(folder: str, files: Mapping[str, bytes]) -> dict[str, FileState]:
    """Create `folder` with `files` by their paths in it; return the files' states, by the same paths.

    `folder` must not exist, and this process must hold the lock of a folder above it. The folder is filled under a
    temporary name and renamed when it is complete, so no other process reads half a file. Raises OSError; then nothing
    is left of the folder.
    """
    new = os.path.join(os.path.dirname(folder), temporary_name())
    try:
        states = _write_new(new, files)
        os.rename(new, folder)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, OSError):
            # Users do not know the temporary name, and the error of a failed write has no file name at all.
            named = str(error.filename or folder).replace(new, folder)
            raise OSError(error.errno, error.strerror, named) from error
        raise
    return states


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    names = [name for name in os.listdir(folder) if not is_temporary(name)]
    if names and not _is_left_over(folder, files):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    _remove(folder, names)
    remove_temporaries(os.fspath(folder))
    new = folder / temporary_name()
    try:
        _write_new(os.fspath(new), files)
        children = sorted(os.listdir(new))
        try:
            for child in children:
                os.rename(new / child, folder / child)
        except BaseException:
            _remove(folder, children)
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _is_left_over(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Return whether `folder` has a temporary folder of a killed run, and otherwise only some of `files`."""
    children = list(folder.iterdir())
    own = [path for path in children if not is_temporary(path.name)]
    for path in (found for child in own for found in (child, *child.rglob("*"))):
        wanted = files.get(path.relative_to(folder).as_posix())
        if path.is_symlink() or not (path.is_dir() if wanted is None else path.is_file()):
            return False
        if wanted is not None and path.read_bytes() != wanted:
            return False
    return len(own) < len(children)


def _remove(folder: Path, names: list[str]) -> None:
    for name in names:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _write_new(folder: str, files: Mapping[str, bytes]) -> dict[str, FileState]:
    for path in sorted({path.rpartition("/")[0] for path in files}):
        os.makedirs(f"{folder}/{path}", exist_ok=True)
    return {path: write_new_file(f"{folder}/{path}", content) for path, content in files.items()}
