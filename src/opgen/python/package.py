"""The hand-written stub of every package, data/python_package.pyi, into its declarations."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache

from opgen import data
from opgen.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration, with the comments and blank lines before it.

    A class with members has these apart, and only its own lines in `text`.
    """

    name: str
    text: str
    members: tuple[Declared, ...] = ()


@cache
def package_imports() -> tuple[Declared, ...]:
    """The imports, each of one name."""
    return _package()[0]


@cache
def package_declarations() -> tuple[Declared, ...]:
    """Types, classes, constants and functions, in the order in which they stand."""
    return _package()[1]


@cache
def _package() -> tuple[tuple[Declared, ...], tuple[Declared, ...]]:
    text = data.read_text("python_package.pyi")
    lines = text.splitlines()
    docstring, *statements = ast.parse(text).body
    imports: list[Declared] = []
    others: list[Declared] = []
    assert docstring.end_lineno is not None
    for declared, statement in _declared(statements, lines, docstring.end_lineno):
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        (imports if is_import else others).append(declared)
    return tuple(imports), tuple(others)


def _declared(
    statements: Sequence[ast.stmt], lines: Sequence[str], start: int
) -> Iterator[tuple[Declared, ast.stmt]]:
    for statement in statements:
        end = statement.end_lineno
        assert end is not None
        members: tuple[Declared, ...] = ()
        own = end
        if isinstance(statement, ast.ClassDef) and statement.body[0].lineno > statement.lineno:
            own = statement.lineno
            members = tuple(one for one, _ in _declared(statement.body, lines, own))
        yield Declared(_name(statement), "\n".join(lines[start:own]), members), statement
        start = end


def _name(statement: ast.stmt) -> str:
    match statement:
        case ast.ClassDef(name) | ast.FunctionDef(name):
            return name
        case ast.AnnAssign(ast.Name(name)) | ast.Assign([ast.Name(name)]):
            return name
        case ast.Import([alias]) | ast.ImportFrom(_, [alias]):
            return alias.asname or alias.name
        case _:
            raise AssertionError(f"line {statement.lineno} declares nothing, or more than one name")
