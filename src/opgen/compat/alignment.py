"""Match the arguments of two versions of an operator: those that are the same, and those without a counterpart."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from opgen.compat.interpreter_types import interpreter_type, is_accepted
from opgen.model.function_schema import Argument


class Alignment(Struct, frozen=True):
    """New arguments are `inserted` if their position is within the old list, and `appended` after it.

    `removed` arguments have their old positions: a comparison position by position notices them only within the length
    of the new list.
    """

    pairs: tuple[tuple[Argument, Argument], ...]
    renamed: tuple[tuple[Argument, Argument], ...]
    removed: tuple[tuple[int, Argument], ...]
    inserted: tuple[Argument, ...]
    appended: tuple[Argument, ...]
    reordered: bool


def align(old: Sequence[Argument], new: Sequence[Argument]) -> Alignment:
    """Match arguments by name. Two arguments at the same position without other counterparts count as one that was
    renamed.

    If the lists differ position by position, the result always has a difference.
    """
    before = {a.name: a for a in old}
    after = {a.name: a for a in new}
    common = tuple((a, after[a.name]) for a in old if a.name in after)
    renamed = tuple(
        (a, b)
        for a, b in zip(old, new)
        if a.name not in after and b.name not in before and _may_be_same(a, b)
    )
    matched = {a.name for pair in renamed for a in pair}
    added = [(i, b) for i, b in enumerate(new) if b.name not in before and b.name not in matched]
    return Alignment(
        pairs=common,
        renamed=renamed,
        removed=tuple(
            (i, a) for i, a in enumerate(old) if a.name not in after and a.name not in matched
        ),
        inserted=tuple(b for i, b in added if i < len(old)),
        appended=tuple(b for i, b in added if i >= len(old)),
        reordered=[a.name for a, _ in common] != [b.name for b in new if b.name in before],
    )


def _may_be_same(old: Argument, new: Argument) -> bool:
    before, after = interpreter_type(old.type), interpreter_type(new.type)
    return is_accepted(before, after) or is_accepted(after, before)
