"""Define what the files of formulas bring besides formulas: headers, and the functions that these declare."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from opgen.diagnostics import Span


class AuthorFunction(Struct, frozen=True):
    """A function that an author's header declares, and a formula calls.

    Types are written as in the header, so they are valid in `namespace`. `conditions` are those of `#if` around the
    declaration. `header` is the header that declares it, as written after `#include`, `operator` the full name of the
    first operator whose formulas call it, `of` what that formula is for (`self`, or `result` if it `is_forward`), and `place`
    the call.
    """

    namespace: str
    name: str
    returns: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    conditions: tuple[str, ...]
    header: str
    operator: str
    of: str
    is_forward: bool
    place: Span

    @property
    def full_name(self) -> str:
        """`mylib::scale_backward`."""
        return f"{self.namespace}::{self.name}" if self.namespace else self.name

    @property
    def declaration(self) -> str:
        """`Tensor scale_backward(const Tensor& grad, double factor)`."""
        parameters = (f"{t} {n}".rstrip() for t, n in zip(self.types, self.names))
        return f"{self.returns} {self.name}({', '.join(parameters)})"


class FormulaFiles(Struct, frozen=True):
    """The headers that formulas need, with the spelling after `#include`, and the functions that they declare.

    `functions` are those that may be stubs. `declared` are the names of all, each with its namespace. `short_names` has the
    name of each file of formulas, by its path: what compilers' errors call it.
    """

    includes: tuple[str, ...] = ()
    functions: tuple[AuthorFunction, ...] = ()
    declared: frozenset[tuple[str, str]] = frozenset()
    short_names: Mapping[str, str] = field(default_factory=dict)
