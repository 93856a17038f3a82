"""Read the tables that are shipped as data files: differences between versions of PyTorch, and exceptions to rules; and
find what is in the top folder of a checkout and, as package data, in a wheel.
"""

from __future__ import annotations

from pathlib import Path

# opgen is always installed unpacked (as opgen.io.resources assumes), and importing importlib.resources takes 10 ms.
_FOLDER = Path(__file__).resolve().parent
_PACKAGE = _FOLDER.parent
_CHECKOUT = _PACKAGE.parent.parent


def find_folder(name: str) -> Path:
    """Return the folder `templates`, `runtime` or `docs`."""
    packaged = _PACKAGE / name
    return packaged if packaged.is_dir() else _CHECKOUT / name


def read_page(name: str) -> str:
    """Return the text of a page of the documentation; its name is its path without the ending."""
    # The ends of lines of its examples are kept.
    return (find_folder("docs") / f"{name}.md").read_bytes().decode()


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
