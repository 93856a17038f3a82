"""What is known of entries with errors, so that no rule takes them for entries that are not there."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span
from opgen.model.function_schema import FunctionSchema, OperatorName


@dataclass(frozen=True, slots=True)
class RefusedEntry:
    """An entry that had errors: what of `func` could be read all the same.

    `base` is the operator's name without the marks of its variants; `name` is None if the overload
    cannot be told, and `schema` if anything in it was wrong. `scope` is as that of a NativeFunction.
    """

    span: Span
    base: str
    name: OperatorName | None = None
    schema: FunctionSchema | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """All entries that had errors. `unknown` says that there are some whose names cannot be told."""

    entries: tuple[RefusedEntry, ...] = ()
    unknown: bool = False
    _by_base: Mapping[str, tuple[RefusedEntry, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found: dict[str, list[RefusedEntry]] = {}
        for entry in self.entries:
            found.setdefault(entry.base, []).append(entry)
        by_base = {base: tuple(entries) for base, entries in found.items()}
        object.__setattr__(self, "_by_base", by_base)

    def may_define(self, name: OperatorName) -> bool:
        """Whether one of them may be the operator of this name."""
        entries = self._by_base.get(name.name.base, ())
        return self.unknown or any(e.name in (None, name) for e in entries)

    def may_have_base(self, *bases: str) -> bool:
        """Whether one of them may be an operator of one of these base names."""
        return self.unknown or any(base in self._by_base for base in bases)

    def may_be_variant_of(self, func: FunctionSchema) -> bool:
        """Whether one of them may belong to the operator that `func` is a variant of."""
        entries = self._by_base.get(func.name.name.base, ())
        return self.unknown or any(
            e.schema is None or e.schema.signature() == func.signature() for e in entries
        )
