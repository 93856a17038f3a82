"""Tables shipped as data files, into lists of strings: what differs between PyTorch versions, and lists of exceptions."""

from __future__ import annotations

from pathlib import Path

# As in opgen.resources: opgen is always unpacked. importlib.resources takes 10 ms to import.
_FOLDER = Path(__file__).parent


def read_text(name: str) -> str:
    """The text of the data file `name` of this package."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def read_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table: one a line, columns parted by blanks, `#` begins a comment."""
    lines = (line.partition("#")[0].split() for line in read_text(name).splitlines())
    return tuple(tuple(columns) for columns in lines if columns)


def read_names(name: str) -> tuple[str, ...]:
    """The first column of a table."""
    return tuple(row[0] for row in read_rows(name))


def read_exempt(rule: str) -> frozenset[tuple[str, ...]]:
    """What the rule of this number makes an exception for: (operator,) or (operator, argument)."""
    return frozenset(row[1:] for row in read_rows("exempt.txt") if row[0] == rule)
