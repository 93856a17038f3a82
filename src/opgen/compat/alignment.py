"""Two argument lists into pairs of what is one argument, and what has no counterpart."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.compat.interpreter_types import interpreter_type, is_accepted
from opgen.dataclasses import dataclass
from opgen.model.function_schema import Argument


@dataclass(frozen=True, slots=True)
class Alignment:
    """`inserted` stand before some argument of the old list's end, `appended` after it.

    `removed` holds positions, too: in an old list that is longer than the new one, only what is
    within the new one's length is missed when the lists are compared one by one.
    """

    pairs: tuple[tuple[Argument, Argument], ...]
    renamed: tuple[tuple[Argument, Argument], ...]
    removed: tuple[tuple[int, Argument], ...]
    inserted: tuple[Argument, ...]
    appended: tuple[Argument, ...]
    reordered: bool


def align(old: Sequence[Argument], new: Sequence[Argument]) -> Alignment:
    """Arguments of one name are one. Two at one place, both else unknown, are one that was renamed.

    However these are told apart, something is found where the lists differ when compared one by one.
    """
    before = {a.name: a for a in old}
    after = {a.name: a for a in new}
    common = tuple((a, after[a.name]) for a in old if a.name in after)
    renamed = tuple(
        (a, b)
        for a, b in zip(old, new)
        if a.name not in after and b.name not in before and _may_be_one(a, b)
    )
    accounted = {a.name for pair in renamed for a in pair}
    added = [(i, b) for i, b in enumerate(new) if b.name not in before and b.name not in accounted]
    return Alignment(
        pairs=common,
        renamed=renamed,
        removed=tuple(
            (i, a) for i, a in enumerate(old) if a.name not in after and a.name not in accounted
        ),
        inserted=tuple(b for i, b in added if i < len(old)),
        appended=tuple(b for i, b in added if i >= len(old)),
        reordered=[a.name for a, _ in common] != [b.name for b in new if b.name in before],
    )


def _may_be_one(old: Argument, new: Argument) -> bool:
    before, after = interpreter_type(old.type), interpreter_type(new.type)
    return is_accepted(before, after) or is_accepted(after, before)
