"""Read the tables that are shipped as data files: differences between versions of PyTorch, and exceptions to rules; and
find templates, the C++ runtime and the documentation: in a wheel, they are package data (`opgen/templates`, …), and in a
checkout, and so in an editable install, in the top folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

# opgen is always installed unpacked, and importing importlib.resources takes 10 ms.
_FOLDER = Path(__file__).resolve().parent
_PACKAGE = _FOLDER.parent
_CHECKOUT = _PACKAGE.parent.parent

# A mark that a table or Markdown would read.
_ESCAPED = re.compile(r"\\([|*<])")


def find_folder(name: str) -> Path:
    """Return the folder `templates`, `runtime` or `docs`."""
    packaged = _PACKAGE / name
    return packaged if packaged.is_dir() else _CHECKOUT / name


def read_page(name: str) -> str:
    """Return the text of a page of the documentation; its name is its path without the ending."""
    # The ends of lines of its examples are kept.
    return (find_folder("docs") / f"{name}.md").read_bytes().decode()


@cache
def read_sections(name: str) -> Mapping[str, str]:
    """Return the text below each heading of a page."""
    _, *parts = re.split(r"^##+ (.*)\n", read_page(name).replace("\r\n", "\n"), flags=re.M)
    return dict(zip(parts[::2], parts[1::2]))


def table_rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the two cells of each row, of the tables in a text, that begins with a number or with words of code."""
    for line in re.findall(r"^\| (?:`|\d)[^\n]* \|$", text, re.MULTILINE):
        term, _, meaning = _ESCAPED.sub(r"\1", line[2:-2]).partition(" | ")
        yield term.strip("`"), meaning


def read_text(name: str) -> str:
    """Return the text of the data file `name` of this package."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def read_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table: one per line, with white space between columns; `#` begins a comment."""
    lines = (line.partition("#")[0].split() for line in read_text(name).splitlines())
    return tuple(tuple(columns) for columns in lines if columns)


def read_names(name: str) -> tuple[str, ...]:
    """Return the first column of a table."""
    return tuple(row[0] for row in read_rows(name))


def read_exempt(rule: str) -> frozenset[tuple[str, ...]]:
    """Return the exceptions to the rule with this number: (operator,) or (operator, argument)."""
    return frozenset(row[1:] for row in read_rows("exempt.txt") if row[0] == rule)


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
