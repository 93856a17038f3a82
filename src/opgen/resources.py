"""Where the data that travels with opgen lies: templates and the C++ runtime's sources.

In a wheel they are package data (`opgen/templates`, `opgen/runtime`); in a checkout, and so in an
editable install, they stand at its top.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


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
