"""Find the definitions of kernels and meta functions in C++ sources: `OPGEN_IMPL_FUNC(x)` and similar macros."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from opgen.diagnostics import Source, Span
from opgen.importing.cpp.lexing import read_cpp

_DEFINITION = re.compile(
    r"^[ \t]*(OPGEN_(?:KERNEL2?|IMPL_FUNC|UFUNC|(?:PRECOMPUTE_)?META_FUNC2?))"
    r"[ \t]*\([ \t\r\n]*(\w+)(?:[ \t\r\n]*,[ \t\r\n]*(\w+))?[ \t\r\n]*\)",
    re.MULTILINE,
)


class Definition(Struct, frozen=True):
    """The definition of a kernel or a meta function: the macro and its one or two arguments, and their place."""

    macro: str
    argument: str
    overload: str
    span: Span

    @property
    def is_meta(self) -> bool:
        return "META" in self.macro

    @property
    def name(self) -> str:
        """The name of a kernel as in a dispatch table, or of a meta function as in a schema: `add.Tensor`."""
        return (
            f"{self.argument}.{self.overload}" if self.is_meta and self.overload else self.argument
        )

    @property
    def text(self) -> str:
        """The macro with its arguments."""
        arguments = f"{self.argument}, {self.overload}" if self.overload else self.argument
        return f"{self.macro}({arguments})"


def find_definitions(source: Source) -> Iterator[Definition]:
    """Yield what looks like a definition, in order, also in comments."""
    if "OPGEN_" not in source.text:
        return
    for match in _DEFINITION.finditer(source.text):
        span = Span(source, match.start(2), match.end(3) if match[3] else match.end(2))
        yield Definition(match[1], match[2], match[3] or "", span)


def find_compiled_definitions(source: Source) -> tuple[Definition, ...]:
    """Return the definitions that a compiler sees, if no condition of an `#if` hides them."""
    found = tuple(find_definitions(source))
    if not found:
        return ()
    text = read_cpp(source)
    return tuple(
        d for d in found if text.masked[d.span.start].strip() and not text.is_dead(d.span.start)
    )
