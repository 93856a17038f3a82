"""A folder that was not there before, with all of its files or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def create_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a new folder, or fill an empty one, with `files` by their paths in it.

    Raises FileExistsError if anything else stands at `folder`, and OSError; nothing is left of it then.
    """
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = not os.path.isdir(folder)
    # Beside it, in the same file system; in it, if it is there: it may be where the user stands.
    new = (folder.parent if made else folder) / f".opgen-{os.urandom(8).hex()}.tmp"
    try:
        for path, content in files.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(content)
        if made:
            os.rename(new, folder)
            return
        for child in sorted(new.iterdir()):
            os.rename(child, folder / child.name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
