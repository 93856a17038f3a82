"""Where the data that travels with opgen lies: templates and the C++ runtime's sources.

In a wheel they are package data (`opgen/templates`, `opgen/runtime`); in a checkout, and so in an
editable install, they stand at its top.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent

# Folders of the package of which no run that generates reads anything; templates are named apart.
_NOT_READ = ("runtime", "lsp", "templates")


def _find(name: str) -> Path:
    packaged = _PACKAGE / name
    return packaged if packaged.is_dir() else _CHECKOUT / name


def templates_dir() -> Path:
    """The folder with one sub-folder of templates per target."""
    return _find("templates")


def target_templates(folders: Iterable[str]) -> tuple[Path, ...]:
    """The folders of a target's templates, by their names."""
    return tuple(templates_dir() / folder for folder in folders)


def runtime_dir() -> Path:
    """The C++ runtime: its CMake project, headers and sources."""
    return _find("runtime")


def cmake_dir() -> Path:
    """The folder to put on CMAKE_PREFIX_PATH so that `find_package(opgen)` finds this opgen."""
    return runtime_dir() / "cmake"


def own_files() -> tuple[str, ...]:
    """Every file of opgen that what it generates depends on: its sources, data and templates, sorted."""
    return tuple(sorted((*_files(_PACKAGE, _NOT_READ), *_files(templates_dir(), ()))))


def _files(top: Path, left_out: Container[str]) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        within = os.path.relpath(folder, top)
        folders[:] = [
            name
            for name in folders
            if name != "__pycache__" and not (within == "." and name in left_out)
        ]
        yield from (os.path.join(folder, name) for name in names)
