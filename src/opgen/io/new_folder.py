"""Create a folder with all of its files or not at all; find an author's own sources in a folder that is there."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.io.files import (
    PATIENCE_S,
    FileState,
    alone_in,
    is_temporary,
    locked,
    remove_temporaries,
    temporary_name,
    write_new_file,
)
from opgen.io.manifest import MANIFEST


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
            raise _exists(folder)
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
        states = _write_all(new, files)
        os.rename(new, folder)
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        # Users do not know the temporary name, and the error of a failed write has no file name at all.
        named = str(error.filename or folder).replace(new, folder)
        raise OSError(error.errno, error.strerror, named) from error
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return states


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    names = [name for name in os.listdir(folder) if not is_temporary(name)]
    if names and not _is_left_over(folder, files):
        raise _exists(folder)
    _remove(folder, names)
    remove_temporaries(os.fspath(folder))
    new = folder / temporary_name()
    try:
        _write_all(os.fspath(new), files)
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
    killed = False
    for path in folder.iterdir():
        if is_temporary(path.name):
            killed = True
            continue
        for one in (path, *path.rglob("*")):
            wanted = files.get(one.relative_to(folder).as_posix())
            if one.is_symlink() or (not one.is_dir() and (wanted is None or not one.is_file())):
                return False
            if wanted is not None and one.read_bytes() != wanted:
                return False
    return killed


def _remove(folder: Path, names: list[str]) -> None:
    for name in names:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _write_all(folder: str, files: Mapping[str, bytes]) -> dict[str, FileState]:
    for path in sorted({path.rpartition("/")[0] for path in files}):
        os.makedirs(f"{folder}/{path}", exist_ok=True)
    return {path: write_new_file(f"{folder}/{path}", content) for path, content in files.items()}


def _exists(folder: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))


_SUFFIXES = frozenset(
    (
        *(".cpp", ".cc", ".cxx", ".c", ".cu", ".mm", ".h", ".hh", ".hpp", ".cuh"),
        *(".py", ".pyi", ".yaml", ".yml"),
    )
)
# Enough names to recognise the folder.
_MOST = 3
_MOST_SEEN = 10_000


def report_author_files(paths: Collection[str], directory: Path, diagnostics: Diagnostics) -> None:
    """Report W0920 if `directory` has sources of an author where the generated files `paths` will be.

    A folder with a manifest received generated files before, and is not reported again.
    """
    if os.path.lexists(directory / MANIFEST):
        return
    found = sorted(_sources(paths, directory))[: _MOST + 1]
    if not found:
        return
    more = " and more" if len(found) > _MOST else ""
    message = f"{directory} holds sources of your own: {', '.join(found[:_MOST])}{more}"
    notes = [f"opgen changes none of them, and writes {len(paths)} files beside them"]
    hint = f"give -o a folder of its own, such as {directory / 'generated'}"
    diagnostics.warning("W0920", message, None, notes=notes, hint=hint)


def _sources(paths: Collection[str], directory: Path) -> Iterator[str]:
    """Yield the sources directly in the folder, and anywhere in the folders that receive generated files."""
    top = os.fspath(directory)
    folders = {path.partition("/")[0] for path in paths if "/" in path}
    seen = 0
    for folder, inner, files in os.walk(top):
        inside = os.path.relpath(folder, top)
        inner[:] = [name for name in inner if inside != "." or name in folders]
        for name in files:
            seen += 1
            path = os.path.normpath(os.path.join(inside, name)).replace(os.sep, "/")
            if os.path.splitext(name)[1] in _SUFFIXES and path not in paths:
                yield path
        if seen > _MOST_SEEN:
            return
