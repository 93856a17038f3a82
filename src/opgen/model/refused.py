"""What is known of entries with errors, so that no rule takes them for entries that are not there."""

from __future__ import annotations

from dataclasses import dataclass

from opgen.diagnostics import Span
from opgen.model.function_schema import FunctionSchema, OperatorName


@dataclass(frozen=True, slots=True)
class RefusedEntry:
    """An entry that had errors: what of `func` could be read all the same.

    `base` is the operator's name without the marks of its variants; `name` is None if the overload
    cannot be told, and `schema` if anything in it was wrong.
    """

    span: Span
    base: str
    name: OperatorName | None = None
    schema: FunctionSchema | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """All entries that had errors. `unknown` says that there are some whose names cannot be told."""

    entries: tuple[RefusedEntry, ...] = ()
    unknown: bool = False

    def may_define(self, name: OperatorName) -> bool:
        """Whether one of them may be the operator of this name."""
        return self.unknown or any(
            e.name == name if e.name is not None else e.base == name.name.base for e in self.entries
        )

    def may_have_base(self, *bases: str) -> bool:
        """Whether one of them may be an operator of one of these base names."""
        return self.unknown or any(e.base in bases for e in self.entries)

    def may_be_variant_of(self, func: FunctionSchema) -> bool:
        """Whether one of them may belong to the operator that `func` is a variant of."""
        base = func.name.name.base
        return self.unknown or any(
            e.base == base and (e.schema is None or e.schema.signature() == func.signature())
            for e in self.entries
        )

    def with_entries(self, *entries: RefusedEntry) -> Refused:
        return Refused((*self.entries, *entries), self.unknown)
