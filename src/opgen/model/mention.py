"""Names of operators in other files: registrations of a backend, traces of a program."""

from __future__ import annotations

from msgspec import Struct

from opgen.diagnostics import Located, Span


class Mention(Located, Struct, frozen=True):
    """`aten::add.Tensor` somewhere in a file; with `any_overload`, every overload of `aten::add`."""

    name: str
    any_overload: bool
    span: Span
