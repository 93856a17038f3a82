"""A function of a stub on one line or several: as torchgen breaks it, and so that black leaves it alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_LINE_LENGTH = 80
_INDENT = "    "
# The last list in brackets: what black would break a line at.
_LIST = re.compile(r"(.*\[)([^][]+)(\].*)", re.DOTALL)


def declare_as_torchgen(name: str, arguments: Sequence[str], returned: str) -> str:
    """A declaration as torchgen writes it: what is too long is black's to skip."""
    line = f"def {name}({', '.join(arguments)}) -> {returned}: ..."
    if _fits_one_line(line, arguments):
        return line
    lines = [f"def {name}(", *(f"    {a}," for a in arguments), f") -> {returned}: ..."]
    text = "\n".join(lines)
    if all(len(line) <= _LINE_LENGTH for line in lines):
        return text
    return text.removesuffix(" ...") + "  # fmt: skip\n    ..."


def declare(name: str, arguments: Sequence[str], returned: str) -> str:
    """A declaration that black leaves as it is, whatever line length it is told of from 84 on.

    Every bracket that is broken ends with a comma, so that its lines are never joined.
    """
    line = f"def {name}({', '.join(arguments)}) -> {returned}: ..."
    if len(line) <= _LINE_LENGTH or not arguments:
        return line
    lines = [line for a in arguments for line in _broken(f"{_INDENT}{a},", _INDENT)]
    return "\n".join([f"def {name}(", *lines, *_broken(f") -> {returned}: ...", "")])


def _fits_one_line(line: str, arguments: Sequence[str]) -> bool:
    return len(line) <= _LINE_LENGTH or not arguments or list(arguments) == ["self"]


def _broken(line: str, margin: str) -> Iterator[str]:
    """`line`, with the items of its last list on lines of their own if it is too long."""
    found = _LIST.fullmatch(line)
    if len(line) <= _LINE_LENGTH or found is None:
        yield line
        return
    opening, items, closing = found.groups()
    yield opening
    yield from (f"{margin}{_INDENT}{item}," for item in items.split(", "))
    yield f"{margin}{closing}"
