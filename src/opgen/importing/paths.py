"""Files, folders and patterns of the command line into the sources that they stand for."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator

from opgen.importing import codes
from opgen.importing.problems import Problems

_CPP = (
    *(".cpp", ".cc", ".cxx", ".c++", ".cu", ".cuh", ".mm", ".hip", ".sycl"),
    *(".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".inc", ".ipp"),
)
_PYTHON = (".py", ".pyi")
# Folders in which nobody keeps sources of their own.
_NO_SOURCES = frozenset({".git", ".hg", "__pycache__", "node_modules", ".venv", "venv"})


def is_python(path: str) -> bool:
    return path.endswith(_PYTHON)


def find_sources(given: Iterable[str], problems: Problems) -> list[str]:
    """The paths of the sources, each once, in the order given; those of a folder or a pattern are sorted."""
    found: dict[str, None] = {}
    for path in given:
        before = len(found)
        if os.path.isdir(path):
            found.update(dict.fromkeys(_in_folder(path)))
        elif glob.has_magic(path) and not os.path.lexists(path):
            matched = sorted(glob.glob(path, recursive=True))
            found.update((one, None) for one in matched if _is_source(one))
        else:
            # A file that is named is read whatever it is called.
            found[path] = None
            continue
        if len(found) == before and not any(one.startswith(path) for one in found):
            message = f"there is no source at {path}"
            hint = "a file, a folder, or a pattern such as 'csrc/**/*.cpp'"
            problems.error(codes.NO_SUCH_SOURCE, message, None, hint=hint)
    return list(found)


def _in_folder(folder: str) -> Iterator[str]:
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _NO_SOURCES)
        paths = (os.path.join(top, name) for name in sorted(names))
        yield from (path for path in paths if _is_source(path))


def _is_source(path: str) -> bool:
    return path.endswith((*_CPP, *_PYTHON)) and os.path.isfile(path)
