"""Read the hand-written part of each package's stub, and write declarations and their docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from inspect import cleandoc

from msgspec import Struct

from opgen.data import runtime_dir


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


_LINE_LENGTH = 80

# Characters that have another meaning in a docstring: backslashes, three quotes or one at an end, and characters that
# an editor does not show.
_ESCAPED = re.compile(
    r'\\|\A"|"\Z|"(?="")|(?<="")"'
    "|[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_DOCSTRING = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL)


def declare(name: str, arguments: Sequence[str], returns: str) -> str:
    """Write a declaration. If it is long, each argument has a line of its own; formatters leave generated stubs as they are."""
    line = f"def {name}({', '.join(arguments)}) -> {returns}: ..."
    if len(line) <= _LINE_LENGTH or not arguments:
        return line
    return "\n".join([f"def {name}(", *(f"    {a}," for a in arguments), f") -> {returns}: ..."])


def with_docstring(declaration: str, text: str | None) -> str:
    """Return a declaration of `declare` with `text` as its docstring, and a blank line after it; or as it is without a text."""
    if text is None:
        return declaration
    return f"{declaration.removesuffix(' ...')}\n{docstring(text, indent=4)}\n"


def docstring(text: str, *, indent: int) -> str:
    """Return a docstring that Python's `inspect.cleandoc` turns into `text`, with its first line indented, too."""
    margin = " " * indent
    literal = _ESCAPED.sub(_escape, text)
    first, *lines = literal.split("\n")
    if not lines:
        return f'{margin}"""{literal}"""'
    if cleandoc(text) != text:
        # Below the quotes, indentation of all lines is relative.
        first, lines = "", [first, *lines]
    rest = [f"{margin}{line}" if line else "" for line in lines]
    return "\n".join([f'{margin}"""{first}', *rest, f'{margin}"""'])


def without_docstrings(text: str) -> str:
    """Return declarations with the docstrings of `docstring` left out."""
    return _DOCSTRING.sub("", text) if '"""' in text else text


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character == "\\":
        return "\\\\"
    if character == '"':
        return "\\x22"
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
