"""Apply the fixes of diagnostics in rounds: a fix may reveal another problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Edit
from opgen.edits.apply import apply_edits, encode_like

# Each round fixes at least one problem, and no real file hides mistakes this deep.
_MAX_ROUNDS = 20
# Each round reads all files, and a megabyte takes up to 2 s: larger files get fewer rounds.
_MAX_READ = 1_800_000
# No round needs more errors than these, and finding them takes time, too.
MAX_FIXES = 2_000

_Found = TypeVar("_Found")

# The diagnostics for given contents of the files, and another result of the check.
Checked = tuple[Diagnostics, _Found]
Check = Callable[[Mapping[Path, bytes]], Checked[_Found]]


class Fixed(Struct, Generic[_Found], frozen=True):
    """The contents of the files that fixing changed, and the number of fixes.

    `first` is the result of the check before fixing, `last` the result after it.
    """

    contents: Mapping[Path, bytes]
    count: int
    first: Checked[_Found]
    last: Checked[_Found]


def fix_all(contents: Mapping[Path, bytes], check: Check[_Found]) -> Fixed[_Found]:
    """Apply every fix that `check` finds for the files of `contents`, until none is left.

    For large files, it may end before that; then `last` has fixes left, which another call applies.

    `check` must name its sources by `str()` of their paths.
    """
    now = dict(contents)
    seen = {tuple(now.values())}
    count = 0
    first = last = check(now)
    size = sum(map(len, now.values()))
    for _ in range(min(_MAX_ROUNDS, max(1, _MAX_READ // max(1, size)))):
        then, made = _apply_round(now, last[0])
        # Fixes that undo each other are a bug of their rules; then nothing more is changed.
        if not made or tuple(then.values()) in seen:
            break
        now, count = then, count + made
        seen.add(tuple(now.values()))
        last = check(now)
    changed = {path: content for path, content in now.items() if content != contents[path]}
    return Fixed(changed, count, first, last)


def _apply_round(
    contents: Mapping[Path, bytes], diagnostics: Diagnostics
) -> tuple[dict[Path, bytes], int]:
    """Return the contents with the fixes of `diagnostics`, and the number of fixes."""
    by_path: dict[str, list[Edit]] = {}
    for item in diagnostics:
        if item.fix is not None:
            by_path.setdefault(item.fix.span.source.path, []).append(item.fix)
    then, made = dict(contents), 0
    for path, content in contents.items():
        edits = by_path.get(str(path), [])
        text = edits[0].span.source.text if edits else ""
        # A file that is not UTF-8 cannot be written back unchanged.
        if edits and encode_like(text, content) == content:
            text, number = apply_edits(text, edits)
            then[path] = encode_like(text, content)
            made += number
    return then, made
