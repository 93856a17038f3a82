"""The stubs of a package (.pyi), for type checkers and editors, and its named tuples.

There is one class Tensor in a process, and all libraries add methods to it. A stub shows only the members that every
tensor has and the methods of this library. If the library extends another one, its stub imports the classes from the
other's stub, as its C++ uses the other's class Tensor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent

from opgen.emit.common.base import GeneratedFile, Record, group_by
from opgen.emit.common.context import Context
from opgen.emit.python.calls import PythonCalls, free_exports, parts_of
from opgen.emit.python.declarations import dunder_declarations, function_declarations
from opgen.python.layout import without_docstrings
from opgen.python.overloads import PythonFunction
from opgen.python.package import Declaration, package_declarations, package_imports

_TENSOR = "Tensor"
_RETURN_TYPES = "return_types"
# Matches uses of a name, and not the names that declarations define: "dtype: …" and "def size(".
_USED = re.compile(r"(?<=-> )[A-Za-z_]\w*|\b[A-Za-z_]\w*\b(?![:(])")
_INDENT = "    "


class StubFile(GeneratedFile, frozen=True):
    """`parts` are declarations in order, with the blank lines before them."""

    title: str
    parts: tuple[str, ...]


class ResultType(Record, frozen=True):
    name: str
    names: str


class ReturnTypesFile(GeneratedFile, frozen=True):
    library: str
    classes: tuple[ResultType, ...]


def build_python_stubs(context: Context, calls: PythonCalls) -> Iterator[GeneratedFile]:
    """Build python/<library>: __init__.pyi, a stub for each submodule, the named tuples, py.typed."""
    name = context.library.name
    classes_of = context.library.extends or name
    functions = group_by((f for f in calls.functions if not f.method), lambda f: f.module or "")
    modules = sorted(module for module in functions if module)
    for module in modules:
        parts = tuple(_functions(functions[module], calls))
        yield _stub(
            name, module, f"Submodule {module} of library {name}.", _with_imports(classes_of, parts)
        )
    if calls.result_classes():
        modules.append(_RETURN_TYPES)
        yield _return_types(name, calls)
        classes = tuple(_result_classes(calls))
        title = f"The named tuples that library {name} returns."
        yield _stub(name, _RETURN_TYPES, title, _with_imports(classes_of, classes))
    parts = tuple(_functions(functions.get("", ()), calls))
    package: Iterable[str]
    if context.library.extends is None:
        package = _package(calls, modules, parts)
    else:
        package = _extension(context.library.extends, modules, parts, _inherited(context, calls))
    yield _stub(name, "__init__", f"Library {name}, for type checkers and editors.", package)
    yield StubFile(f"python/{name}/py.typed", "py.typed.j2", "", ())


def _stub(library: str, module: str, title: str, parts: Iterable[str]) -> StubFile:
    return StubFile(f"python/{library}/{module}.pyi", "stub.pyi.j2", title, tuple(parts))


def _return_types(library: str, calls: PythonCalls) -> ReturnTypesFile:
    classes = tuple(
        ResultType(one.name, " ".join(name for name, _ in one.fields))
        for one in calls.result_classes()
    )
    return ReturnTypesFile(
        f"python/{library}/{_RETURN_TYPES}.py", "return_types.py.j2", library, classes
    )


def _result_classes(calls: PythonCalls) -> Iterator[str]:
    for one in calls.result_classes():
        yield f"\nclass {one.name}(_NamedTuple):"
        yield from (f"{_INDENT}{name}: {annotation}" for name, annotation in one.fields)


def _functions(functions: Iterable[PythonFunction], calls: PythonCalls) -> Iterator[str]:
    for f in functions:
        yield from function_declarations(f, calls)


def _package(calls: PythonCalls, modules: list[str], functions: Sequence[str]) -> Iterator[str]:
    """Yield the lines of __init__.pyi for a library that does not extend another one."""
    taken = {f.name for f in calls.functions if not f.method and f.module is None}
    parts: list[str] = []
    for one in package_declarations():
        if one.name == _TENSOR:
            parts += _tensor(one, calls)
        elif one.name not in taken:
            ends_in_blank_line = bool(parts) and parts[-1].endswith("\n")
            text = one.text.removeprefix("\n") if ends_in_blank_line else one.text
            parts += [text, *(member.text for member in one.members)]
    first = functions[0] if functions else "\n"
    if parts[-1].endswith('"""') and not first.startswith("\n"):
        parts.append("")  # Black separates a documented function from the next one.
    parts += functions
    yield from _imports(_used(parts))
    own_parts = parts_of(calls)
    yield from _submodules(sorted([*(part.name for part in own_parts), *modules]))
    for part in sorted(own_parts, key=lambda part: part.name):
        names = free_exports(part, taken)
        yield from (f"from .{part.name} import {name} as {name}" for name in names)
    yield from parts


def _tensor(tensor: Declaration, calls: PythonCalls) -> Iterator[str]:
    """Yield class Tensor: the members that it always has, operators of Python, methods."""
    methods = [f for f in calls.functions if f.method]
    taken = {f.name for f in methods}
    yield tensor.text
    yield from (one.text for one in tensor.members if one.name not in taken)
    for text in dunder_declarations(methods, calls):
        yield indent(text, _INDENT)
    for text in _functions(methods, calls):
        yield indent(text, _INDENT)


def _inherited(context: Context, calls: PythonCalls) -> tuple[str, ...]:
    """Return the parts and their exports, as far as a library has those of the one that it extends."""
    if not context.library.extends_python:
        return ()
    taken = {f.name for f in calls.functions if not f.method and f.module is None}
    return tuple(
        name for part in parts_of(calls) for name in (part.name, *free_exports(part, taken))
    )


def _extension(
    base: str, modules: list[str], functions: tuple[str, ...], inherited: tuple[str, ...]
) -> Iterator[str]:
    """Yield the lines of __init__.pyi for a library that extends `base`, whose classes it uses.

    It contains everything in the stub of `base`, because another library may extend this one.
    """
    declared = {*(one.name for one in package_declarations()), *inherited}
    yield from _with_imports(base, functions, exported=declared, modules=modules)


def _with_imports(
    library: str, parts: tuple[str, ...], exported: Iterable[str] = (), modules: Iterable[str] = ()
) -> Iterator[str]:
    """Yield `parts` after the imports that they need, from `library` or from the modules from which that imports."""
    words = _used(parts)
    yield from _imports(words)
    given = set(exported)
    lines = [f"{_INDENT}{name} as {name}," for name in sorted(given)]
    used = {one.name for one in package_declarations()} & words
    lines += [f"{_INDENT}{name}," for name in sorted(used - given)]
    if lines:
        yield "\n".join(["", f"from {library} import (", *lines, ")"])
    yield from _submodules(modules)
    if _RETURN_TYPES in words and not modules:
        yield f"\nfrom . import {_RETURN_TYPES}"
    if not parts[:1] or not parts[0].startswith("\n"):
        yield ""
    yield from parts


def _used(parts: Iterable[str]) -> set[str]:
    return {word for part in parts for word in _USED.findall(without_docstrings(part))}


def _imports(used: set[str]) -> Iterator[str]:
    yield from (one.text for one in package_imports() if one.name in used)


def _submodules(modules: Iterable[str]) -> Iterator[str]:
    lines = [f"from . import {module} as {module}" for module in modules]
    if lines:
        yield "\n".join(["", *lines])
