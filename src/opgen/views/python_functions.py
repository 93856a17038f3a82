"""A package of Python for operators that are functions there already: their names, typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from keyword import iskeyword

from opgen.model.native_function import NativeFunction
from opgen.parse.fake_reader import GIVEN_NAMES
from opgen.python.operator_calls import operator_declarations
from opgen.views.base import FileView, group_by, view
from opgen.views.context import Context
from opgen.views.python_stub import StubView

_WORD = re.compile(r"\b_\w+")


@view
class FakeView:
    """An overload under torch.ops, and the function of its arguments that says what it returns."""

    overload: str
    parameters: str
    returns: str


@view
class PythonFunctionsView(FileView):
    """`names` are of `namespace`; `others` are the namespaces whose operators the package has no names for."""

    library: str
    namespace: str
    others: tuple[str, ...]
    names: tuple[str, ...]
    fakes: tuple[FakeView, ...]


@view
class LoadingView(FileView):
    """What loads the library, or says why that is impossible."""

    library: str


def build_python_functions(context: Context) -> Iterator[FileView]:
    """python/<library>: __init__.py, _loading.py, a stub, py.typed."""
    library = context.library.name
    kept = [f for f in context.registry.functions if context.keeps(f)]
    namespaces = sorted({f.namespace for f in kept})
    namespace = namespaces[0] if len(namespaces) == 1 else library
    functions = _by_name(f for f in kept if f.namespace == namespace)
    folder = f"python/{library}"
    yield PythonFunctionsView(
        path=f"{folder}/__init__.py",
        template="functions.py.j2",
        library=library,
        namespace=namespace,
        others=tuple(one for one in namespaces if one != namespace),
        names=tuple(functions),
        fakes=tuple(_fake(f) for f in kept if f.fake is not None),
    )
    yield LoadingView(f"{folder}/_loading.py", "loading.py.j2", library)
    title = f"Library {library}, for type checkers and editors."
    parts = tuple(_stub(context, functions))
    yield StubView(f"{folder}/__init__.pyi", "stub.pyi.j2", title, parts)
    yield StubView(f"{folder}/py.typed", "py.typed.j2", "", ())


def _fake(f: NativeFunction) -> FakeView:
    assert f.fake is not None
    name = f.func.name
    # Attributes of torch.ops may have any name, parameters may not.
    arguments = [a.name for a in f.func.arguments.flat_all if not iskeyword(a.name)]
    given = [n for n in GIVEN_NAMES if n not in arguments]
    return FakeView(
        overload=f"{f.namespace}.{name.name}.{name.overload_name or 'default'}",
        parameters=", ".join((*given, *arguments)),
        returns=f.fake,
    )


def _by_name(functions: Iterable[NativeFunction]) -> dict[str, list[NativeFunction]]:
    """What Python can name, sorted by name; overloads in the order of their entries."""
    named = group_by(functions, lambda f: str(f.func.name.name))
    return {name: named[name] for name in sorted(named) if not iskeyword(name)}


def _stub(context: Context, functions: dict[str, list[NativeFunction]]) -> Iterator[str]:
    words = context.target.call_words
    assert words is not None
    parts = [text for found in functions.values() for text in operator_declarations(found, words)]
    used = {word for part in parts for word in _WORD.findall(part)}
    for group in words.imports:
        lines = [line for word, line in group.items() if word in used]
        if lines:
            yield "\n".join(["", *lines])
    yield ""
    yield from parts
