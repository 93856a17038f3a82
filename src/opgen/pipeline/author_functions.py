"""Read the declarations of the functions that formulas call in an author's headers: those that may be stubs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opgen.autograd.called_functions import Call, calls_of_functions
from opgen.autograd.derivative import AuthorFunction, DifferentiableFunction, FormulaFiles
from opgen.diagnostics import Source
from opgen.importing.cpp.functions import CppFunction, Functions
from opgen.importing.cpp.grammar import Grammar
from opgen.importing.cpp.text import read_cpp
from opgen.pipeline.author_headers import FoundHeader
from opgen.pipeline.inputs import Inputs, author_headers
from opgen.targets import TARGETS

# A function that another library exports, or that has its definition in every file, is no stub.
_NOT_FOR_STUBS = re.compile(
    r"\b(?:\w+_(?:API|EXPORT|PUBLIC)|__declspec|visibility|inline|constexpr|consteval|friend|extern)\b"
)
_NOEXCEPT = re.compile(r"\s*noexcept\b")
# The text before a declaration ends with one of these.
_BEFORE = ";{}"


def find_author_functions(
    functions: Sequence[DifferentiableFunction], includes: Sequence[str], inputs: Inputs
) -> FormulaFiles:
    """Return the functions that formulas call and that the author's headers declare; for stubs, those without a definition.

    Left out are templates, functions of C, those that cannot throw, and those that another library exports: with a macro
    such as TORCH_API, or an attribute of their visibility, before their type.
    """
    has_symints = TARGETS[inputs.target].cpp.symint_overloads
    calls = tuple(calls_of_functions(functions, symint_overloads=has_symints))
    headers = [h for h in author_headers(inputs, includes) if h.is_own] if calls else []
    if not headers:
        return FormulaFiles(tuple(includes))
    reader = _Reader(headers)
    found = (function for call in calls for function in reader.functions(call))
    first = {(f.full_name, f.types): f for f in reversed(tuple(found))}
    declared = frozenset(place for call in calls for place in reader.namespaces(call))
    return FormulaFiles(tuple(includes), tuple(reversed(first.values())), declared)


class _Reader:
    def __init__(self, headers: Sequence[FoundHeader]) -> None:
        sources = [Source(str(header.path), header.text) for header in headers]
        texts = [read_cpp(source) for source in sources]
        self._functions = Functions(texts, Grammar())
        self._written = {id(source): h.written for source, h in zip(sources, headers)}

    def functions(self, call: Call) -> Iterator[AuthorFunction]:
        """Yield the overloads that a call may be one of."""
        found = self._functions.named(call.name)
        defined = {_identity(f) for f in found if f.is_definition}
        for f in found:
            if _identity(f) not in defined and _may_be_stub(f) and _takes(f, call.passed):
                yield self._author_function(f, call)

    def namespaces(self, call: Call) -> Iterator[tuple[str, str]]:
        """Yield each namespace that has a function of this name, and the name."""
        for f in self._functions.named(call.name):
            if not f.is_member:
                yield "::".join(f.path[:-1]), call.name

    def _author_function(self, f: CppFunction, call: Call) -> AuthorFunction:
        parameters = f.signature.parameters
        return AuthorFunction(
            namespace="::".join(f.path[:-1]),
            name=call.name,
            returns=str(f.signature.returns),
            types=tuple(str(p.type) for p in parameters),
            names=tuple(p.name for p in parameters),
            conditions=f.text.conditions(f.span.start),
            header=self._written[id(f.text.source)],
            operator=call.info.func.full_name,
            of=call.row.key,
            is_forward=call.is_forward,
            place=call.span,
        )


def _identity(f: CppFunction) -> tuple[object, ...]:
    return (f.path, *(p.type for p in f.signature.parameters))


def _may_be_stub(f: CppFunction) -> bool:
    if f.is_member or f.template or f.local or f.instance:
        return False
    masked, start = f.text.masked, f.span.start
    scope = f.text.scope(start)
    if scope is not None and any(one.kind == "linkage" for one in scope.chain()):
        return False
    head = masked[max(masked.rfind(mark, 0, start) for mark in _BEFORE) + 1 : start]
    closing = f.text.find_closing(masked.index("(", f.span.end))
    is_noexcept = closing is not None and _NOEXCEPT.match(masked, closing + 1) is not None
    return not is_noexcept and _NOT_FOR_STUBS.search(head) is None


def _takes(f: CppFunction, passed: Sequence[str]) -> bool:
    """Return whether a function takes as many arguments as a call passes."""
    most = len(f.signature.parameters)
    opening = f.text.masked.index("(", f.span.end)
    closing = f.text.find_closing(opening)
    with_default = most if closing is None else f.text.masked.count("=", opening, closing)
    return most - with_default <= len(passed) <= most
