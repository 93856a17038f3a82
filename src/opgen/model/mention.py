"""Operators as other files name them: registrations of a backend, traces of a program."""

from __future__ import annotations

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Mention:
    """`aten::add.Tensor` somewhere in a text; with `any_overload` every overload of `aten::add`."""

    name: str
    any_overload: bool
    span: Span = field(repr=False, compare=False)
