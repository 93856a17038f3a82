"""Find the data files of opgen: templates, the sources of the C++ runtime, and the documentation.

In a wheel, they are package data (`opgen/templates`, `opgen/runtime`, `opgen/docs`). In a checkout, and so in an editable install, they are
in the top folder.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from opgen.data import find_folder

_PACKAGE = Path(__file__).resolve().parent.parent

# Folders of the package that generated files do not depend on; templates are listed separately.
_NOT_READ = ("runtime", "docs", "lsp", "templates", "compiled_templates")

# Folders of the runtime whose subfolder `package` has the Python modules that are copied to packages.
_COPIED = ("python", "torch", "torch_stable")


def templates_dir() -> Path:
    """Return the folder that has a folder of templates for each target."""
    return find_folder("templates")


def target_templates(folders: Iterable[str]) -> tuple[Path, ...]:
    """Return the folders of a target's templates, by their names."""
    return tuple(templates_dir() / folder for folder in folders)


def compiled_templates_dir() -> Path | None:
    """Return the folder of the templates that were compiled when the wheel was built; None in a checkout."""
    folder = _PACKAGE / "compiled_templates"
    return folder if folder.is_dir() else None


def runtime_dir() -> Path:
    """Return the folder of the C++ runtime: its CMake project, headers and sources."""
    return find_folder("runtime")


def cmake_dir() -> Path:
    """Return the folder for CMAKE_PREFIX_PATH with which `find_package(opgen)` finds this opgen."""
    return runtime_dir() / "cmake"


def documentation() -> Mapping[str, Path]:
    """Return the pages of the documentation by their names: the path in its folder without the ending, sorted."""
    top = find_folder("docs")
    pages = {path.relative_to(top).with_suffix("").as_posix(): path for path in top.rglob("*.md")}
    return {name: pages[name] for name in sorted(pages)}


def own_files() -> tuple[str, ...]:
    """Return every file of opgen that generated files depend on, sorted: its sources, data, templates and what is copied."""
    folders = (templates_dir(), *(runtime_dir() / name / "package" for name in _COPIED))
    read = (path for folder in folders for path in _files(folder, ()))
    return tuple(sorted((*_files(_PACKAGE, _NOT_READ), *read)))


def _files(top: Path, left_out: Container[str]) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        within = os.path.relpath(folder, top)
        folders[:] = [
            name
            for name in folders
            if name != "__pycache__" and not (within == "." and name in left_out)
        ]
        yield from (os.path.join(folder, name) for name in names)
