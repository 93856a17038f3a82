"""The stubs of a package (.pyi), for type checkers and editors, and its named tuples.

Class Tensor is one for the process, while its methods come from libraries. A stub shows it as it is with this
library alone: what every tensor has, and the methods of these operators. A library that extends another takes
the classes of the other's stub, as it takes class Tensor in C++.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import indent

from opgen.python.overloads import PythonFunction
from opgen.python.package import Declared, package_declarations, package_imports
from opgen.views.base import FileView, group_by, view
from opgen.views.context import Context
from opgen.views.python_calls import PythonCalls
from opgen.views.python_declarations import dunder_declarations, function_declarations

_TENSOR = "Tensor"
_RETURN_TYPES = "return_types"
# Not what a declaration names itself: "dtype: …" and "def size(".
_USED = re.compile(r"(?<=-> )[A-Za-z_]\w*|\b[A-Za-z_]\w*\b(?![:(])")
_INDENT = "    "


@view
class StubView(FileView):
    """`parts` are declarations in order, with the blank lines before them."""

    title: str
    parts: tuple[str, ...]


@view
class ResultView:
    name: str
    names: str


@view
class ReturnTypesView(FileView):
    library: str
    classes: tuple[ResultView, ...]


def build_python_stubs(context: Context, calls: PythonCalls) -> Iterator[FileView]:
    """python/<library>: __init__.pyi, a stub for each submodule, the named tuples, py.typed."""
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
    if context.library.extends is None:
        package = _package(calls, modules, parts)
    else:
        package = _extension(context.library.extends, modules, parts)
    yield _stub(name, "__init__", f"Library {name}, for type checkers and editors.", package)
    yield StubView(f"python/{name}/py.typed", "py.typed.j2", "", ())


def _stub(library: str, module: str, title: str, parts: Iterable[str]) -> StubView:
    return StubView(f"python/{library}/{module}.pyi", "stub.pyi.j2", title, tuple(parts))


def _return_types(library: str, calls: PythonCalls) -> ReturnTypesView:
    classes = tuple(
        ResultView(one.name, " ".join(name for name, _ in one.fields))
        for one in calls.result_classes()
    )
    return ReturnTypesView(
        f"python/{library}/{_RETURN_TYPES}.py", "return_types.py.j2", library, classes
    )


def _result_classes(calls: PythonCalls) -> Iterator[str]:
    for one in calls.result_classes():
        yield f"\nclass {one.name}(_NamedTuple):"
        yield from (f"{_INDENT}{name}: {annotation}" for name, annotation in one.fields)


def _functions(functions: Iterable[PythonFunction], calls: PythonCalls) -> Iterator[str]:
    for f in functions:
        yield from function_declarations(f, calls)


def _package(calls: PythonCalls, modules: list[str], functions: Iterable[str]) -> Iterator[str]:
    """__init__.pyi of a library that stands alone."""
    taken = {f.name for f in calls.functions if not f.method and f.module is None}
    parts: list[str] = []
    for one in package_declarations():
        if one.name == _TENSOR:
            parts += _tensor(one, calls)
        elif one.name not in taken:
            parts += [one.text, *(member.text for member in one.members)]
    parts += functions
    yield from _imports(_used(parts))
    yield from _submodules(modules)
    yield from parts


def _tensor(tensor: Declared, calls: PythonCalls) -> Iterator[str]:
    """Class Tensor: the members that it always has, operators of Python, methods."""
    methods = [f for f in calls.functions if f.method]
    taken = {f.name for f in methods}
    yield tensor.text
    yield from (one.text for one in tensor.members if one.name not in taken)
    for text in dunder_declarations(methods, calls):
        yield indent(text, _INDENT)
    for text in _functions(methods, calls):
        yield indent(text, _INDENT)


def _extension(base: str, modules: list[str], functions: tuple[str, ...]) -> Iterator[str]:
    """__init__.pyi of a library that extends `base`: the classes are those of `base`.

    It has all that the stub of `base` has, since another library may extend this one.
    """
    declared = {one.name for one in package_declarations()}
    yield from _with_imports(base, functions, exported=declared, modules=modules)


def _with_imports(
    library: str, parts: tuple[str, ...], exported: Iterable[str] = (), modules: Iterable[str] = ()
) -> Iterator[str]:
    """`parts` after imports of what they use, from `library` or where that takes it from."""
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
    return {word for part in parts for word in _USED.findall(part)}


def _imports(used: set[str]) -> Iterator[str]:
    yield from (one.text for one in package_imports() if one.name in used)


def _submodules(modules: Iterable[str]) -> Iterator[str]:
    lines = [f"from . import {module} as {module}" for module in modules]
    if lines:
        yield "\n".join(["", *lines])
