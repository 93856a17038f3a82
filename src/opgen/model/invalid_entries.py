"""Entries that failed to parse, so that later checks do not report them as missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from opgen.diagnostics import Span
from opgen.model.function_schema import FunctionSchema, OperatorName


class InvalidEntry(Struct, frozen=True):
    """The parts of an entry with errors that could be read.

    `base` is the operator's name without the suffixes of variants. `name` is None if the overload is unknown, and
    `schema` if it has an error. `scope` is as in a NativeFunction.
    """

    span: Span
    base: str
    name: OperatorName | None = None
    schema: FunctionSchema | None = None
    scope: str = ""


class InvalidEntries(Struct, frozen=True, dict=True):
    """All entries with errors. `unknown` is whether the names of some are unknown."""

    entries: tuple[InvalidEntry, ...] = ()
    unknown: bool = False

    @cached_property
    def _by_base(self) -> Mapping[str, Sequence[InvalidEntry]]:
        by_base: dict[str, list[InvalidEntry]] = {}
        for entry in self.entries:
            by_base.setdefault(entry.base, []).append(entry)
        return by_base

    def may_define(self, name: OperatorName) -> bool:
        """Return whether an invalid entry may be the operator with this name."""
        entries = self._by_base.get(name.name.base, ())
        return self.unknown or any(e.name in (None, name) for e in entries)

    def may_have_base(self, *bases: str) -> bool:
        """Return whether an invalid entry may be an operator with one of these base names."""
        return self.unknown or any(base in self._by_base for base in bases)

    def may_be_variant_of(self, func: FunctionSchema) -> bool:
        """Return whether an invalid entry may be a variant of the same operator as `func`."""
        entries = self._by_base.get(func.name.name.base, ())
        return self.unknown or any(
            e.schema is None or e.schema.signature() == func.signature() for e in entries
        )
