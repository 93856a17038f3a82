"""Diagnostics with fixes into files without them, in rounds: a fix may bring up what it hid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics, Edit
from opgen.edits.apply import apply_edits, encode_like

# Each round mends at least one problem, and no real file hides mistakes this deep.
_MAX_ROUNDS = 20
# Each round reads all files, and a megabyte takes up to 2 s: larger files get fewer rounds.
_MAX_READ = 1_800_000
# The most errors that a check needs to find for one round. It takes time to find them, too.
MAX_FIXES = 2_000

_Found = TypeVar("_Found")

# What is wrong with the files if they hold these contents, and whatever else was found.
Checked = tuple[Diagnostics, _Found]
Check = Callable[[Mapping[Path, bytes]], Checked[_Found]]


@dataclass(frozen=True, slots=True)
class Fixed(Generic[_Found]):
    """What fixing made: the contents of the files that it changed, and the number of fixes.

    `first` is what the check answered before any of it, `last` what it answered after all.
    """

    contents: Mapping[Path, bytes]
    count: int
    first: Checked[_Found]
    last: Checked[_Found]


def fix_all(contents: Mapping[Path, bytes], check: Check[_Found]) -> Fixed[_Found]:
    """Apply every fix that `check` finds for the files of `contents`, until none is left.

    In large files it may end before that; then `last` has fixes, which another call applies.

    Sources that `check` reads are called by `str()` of their paths.
    """
    now = dict(contents)
    seen = {tuple(now.values())}
    count = 0
    first = last = check(now)
    size = sum(map(len, now.values()))
    for _ in range(min(_MAX_ROUNDS, max(1, _MAX_READ // max(1, size)))):
        then, made = _apply_round(now, last[0])
        # Fixes that undo each other are a bug of their rules; the file is then left as it is.
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
    """The contents with the fixes of `diagnostics`, and how many those are."""
    by_path: dict[str, list[Edit]] = {}
    for item in diagnostics:
        if item.fix is not None:
            by_path.setdefault(item.fix.span.source.path, []).append(item.fix)
    then, made = dict(contents), 0
    for path, content in contents.items():
        edits = by_path.get(str(path), [])
        text = edits[0].span.source.text if edits else ""
        # A file that is not UTF-8 could not be written back as it was.
        if edits and encode_like(text, content) == content:
            text, number = apply_edits(text, edits)
            then[path] = encode_like(text, content)
            made += number
    return then, made
