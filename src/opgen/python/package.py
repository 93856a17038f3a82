"""Read the declarations of runtime/python/package/__init__.pyi, the hand-written part of each package's stub."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from opgen.io.resources import runtime_dir


class Declaration(Struct, frozen=True):
    """A declaration, with the comments and blank lines before it.

    The `text` of a class with members has only the lines before its `members`.
    """

    name: str
    text: str
    members: tuple[Declaration, ...] = ()


@cache
def package_imports() -> tuple[Declaration, ...]:
    """Return the imports, each of one name."""
    return _package()[0]


@cache
def package_declarations() -> tuple[Declaration, ...]:
    """Return types, classes, constants and functions, in the order of the file."""
    return _package()[1]


@cache
def _package() -> tuple[tuple[Declaration, ...], tuple[Declaration, ...]]:
    text = (runtime_dir() / "python/package/__init__.pyi").read_text(encoding="utf-8")
    lines = text.splitlines()
    docstring, *statements = ast.parse(text).body
    imports: list[Declaration] = []
    others: list[Declaration] = []
    assert docstring.end_lineno is not None
    for declaration, statement in _declarations(statements, lines, docstring.end_lineno):
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        (imports if is_import else others).append(declaration)
    return tuple(imports), tuple(others)


def _declarations(
    statements: Sequence[ast.stmt], lines: Sequence[str], start: int
) -> Iterator[tuple[Declaration, ast.stmt]]:
    for statement in statements:
        end = statement.end_lineno
        assert end is not None
        members: tuple[Declaration, ...] = ()
        own = end
        if isinstance(statement, ast.ClassDef) and statement.body[0].lineno > statement.lineno:
            own = statement.lineno
            members = tuple(member for member, _ in _declarations(statement.body, lines, own))
        yield Declaration(_name(statement), "\n".join(lines[start:own]), members), statement
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
