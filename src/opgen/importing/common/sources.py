"""Find the sources that files, folders and patterns of the command line stand for."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator

from opgen.importing.common.problems import Problems

_CPP = (
    *(".cpp", ".cc", ".cxx", ".c++", ".cu", ".cuh", ".mm", ".hip", ".sycl"),
    *(".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".inc", ".ipp"),
)
_PYTHON = (".py", ".pyi")
# Folders that do not contain a project's own sources.
_NO_SOURCES = frozenset({".git", ".hg", "__pycache__", "node_modules", ".venv", "venv"})


def is_python(path: str) -> bool:
    return path.endswith(_PYTHON)


def find_sources(arguments: Iterable[str], problems: Problems) -> list[str]:
    """Return the paths of the sources, each once, in the order of the arguments.

    An argument is a file, a folder or a pattern; the sources of a folder or pattern are sorted. One without any source
    is an error.
    """
    paths: dict[str, None] = {}
    for argument in arguments:
        before = len(paths)
        if os.path.isdir(argument):
            paths.update(dict.fromkeys(_in_folder(argument)))
        elif glob.has_magic(argument) and not os.path.lexists(argument):
            matches = sorted(glob.glob(argument, recursive=True))
            paths.update((path, None) for path in matches if _is_source(path))
        else:
            # A file that is an argument may have any extension.
            paths[argument] = None
            continue
        if len(paths) == before and not any(path.startswith(argument) for path in paths):
            message = f"there is no source at {argument}"
            hint = "pass a file, a folder, or a pattern such as 'csrc/**/*.cpp'"
            problems.error("E1164", message, None, hint=hint)
    return list(paths)


def _in_folder(folder: str) -> Iterator[str]:
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _NO_SOURCES)
        paths = (os.path.join(top, name) for name in sorted(names))
        yield from (path for path in paths if _is_source(path))


def _is_source(path: str) -> bool:
    return path.endswith((*_CPP, *_PYTHON)) and os.path.isfile(path)
