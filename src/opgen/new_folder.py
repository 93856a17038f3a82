"""A folder that was not there before, with all of its files or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from opgen.files import (
    PATIENCE_S,
    alone_in,
    is_temporary,
    locked,
    remove_temporaries,
    temporary_name,
)


def create_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a new folder, or fill an empty one, with `files` by their paths in it.

    Raises FileExistsError if anything else stands at `folder`, and OSError; nothing is left of it then. What a
    killed run left of the same files is no obstacle.
    """
    folder = Path(os.path.abspath(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone_in(folder.parent):
        if os.path.isdir(folder):
            # It stays the same folder: it may be where the user stands.
            with locked(folder, patience_s=PATIENCE_S):
                _fill(folder, files)
        elif os.path.lexists(folder):
            raise _exists(folder)
        else:
            new = folder.parent / temporary_name()
            try:
                _write_all(new, files)
                os.rename(new, folder)
            finally:
                shutil.rmtree(new, ignore_errors=True)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    names = [name for name in os.listdir(folder) if not is_temporary(name)]
    if names and not _is_left_over(folder, files):
        raise _exists(folder)
    _remove(folder, names)
    remove_temporaries(os.fspath(folder))
    new = folder / temporary_name()
    try:
        _write_all(new, files)
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
    """Whether `folder` has a temporary folder of a killed run, and beside it nothing but some of `files`."""
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


def _write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def _exists(folder: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
