"""Compare two versions of a file, and find the changes that break users of the older one."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from msgspec import Struct

from opgen.compat import Break, Direction, compare_operators, not_allowed, parse_allow_list
from opgen.compat.breaks import MAX_BYTES as MAX_ALLOW_LIST
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.parse import decode_source
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load, read_bytes


class Comparison(Struct, frozen=True):
    """The breaks between two files, without those that are allowed, which are only counted."""

    old_operators: int
    new_operators: int
    breaks: tuple[Break, ...]
    allowed: int


@until_too_many(lambda: None)
def compare(
    old: Inputs,
    new: Inputs,
    allow: Path | None,
    wanted: frozenset[Direction],
    today: date,
    diagnostics: Diagnostics,
) -> Comparison | None:
    """Return the breaks in the `wanted` directions; None if there are errors, which `diagnostics` then holds."""
    before, after = load(old, diagnostics), load(new, diagnostics)
    text = None if allow is None else read_bytes(allow, diagnostics, most=MAX_ALLOW_LIST)
    source = None if text is None else decode_source(str(allow), text, diagnostics)
    allowed = () if source is None else parse_allow_list(source, diagnostics)
    if before is None or after is None or diagnostics.has_errors:
        return None
    found = compare_operators(before.functions, after.functions)
    found = tuple(one for one in found if one.directions & wanted)
    kept = not_allowed(found, allowed, today, diagnostics)
    counts = len(before.functions), len(after.functions)
    return Comparison(*counts, kept, len(found) - len(kept))
