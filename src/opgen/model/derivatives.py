"""Model of derivatives.yaml as written, before its names are looked up."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from opgen.diagnostics import Located, Span
from opgen.model.backend import WrittenName

# The usual name of these files; opgen reads each that is in the folder of a schema file.
DERIVATIVES_YAML = "derivatives.yaml"
# The name of the table of an entry without `dispatch`.
DEFAULT_KEY = "Default"


class TextPlace(Protocol):
    """The place of a text in its file."""

    @property
    def span(self) -> Span:
        """The whole text."""

    def part(self, start: int, end: int) -> Span:
        """Characters of the text."""


class WrittenFormula(Struct, frozen=True):
    """A formula, and its place."""

    text: str
    place: TextPlace

    @property
    def span(self) -> Span:
        return self.place.span


class FormulaRow(Struct, frozen=True):
    """`self, other: formula`: the names of arguments, or of outputs, and the formula that serves all of them.

    `key` is the text of the names, by which torchgen sorts rows.
    """

    key: str
    names: tuple[WrittenName, ...]
    formula: WrittenFormula

    @property
    def span(self) -> Span:
        return self.names[0].span


class FormulaTable(Struct, frozen=True):
    """The formulas of an operator for one dispatch key, which is `Default` if the entry names none."""

    key: WrittenName
    rows: tuple[FormulaRow, ...]


class DerivativeEntry(Located, Struct, frozen=True):
    """An entry: the schema of an operator, and its formulas.

    `output_differentiability` says for each output whether it has a gradient; None if all have. `condition` is the C++
    expression that decides it for a single output when the program runs; `output_differentiability` is then `(True,)`.
    """

    name: WrittenName
    tables: tuple[FormulaTable, ...]
    output_differentiability: tuple[bool, ...] | None
    condition: WrittenFormula | None
    output_span: Span | None
    span: Span
    # The namespace of the operator, if its name has none: that of the header of the file.
    namespace: str | None = None


class DerivativesFile(Struct, frozen=True):
    """The contents of one or more files of derivatives, in their order.

    `includes` are the headers that declare functions of formulas, as written after `#include`. `is_found` is whether no
    option names the files: they lie beside the schema files.
    """

    entries: tuple[DerivativeEntry, ...]
    includes: tuple[str, ...] = ()
    is_found: bool = False
