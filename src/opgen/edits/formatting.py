"""Format files without errors: fix the white space, then sort the keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.edits.fixing import Checked, fix_all
from opgen.edits.formatter import format_contents

# Returns diagnostics for misplaced white space, if there are no other errors, and all diagnostics.
CheckBlanks = Callable[[Mapping[Path, bytes]], Checked[Diagnostics]]


def format_all(
    contents: Mapping[Path, bytes], check: CheckBlanks
) -> tuple[Mapping[Path, bytes], Diagnostics]:
    """Return the contents that formatting changes, and the diagnostics of the formatted files.

    If files have errors other than misplaced white space, nothing changes, and the diagnostics are those of the files.
    """
    fixed = fix_all(contents, check)
    found = fixed.last[1]
    if found.has_errors:
        return {}, fixed.first[1]
    spaced = {**contents, **fixed.contents}
    # The order of keys does not change the meaning, so the files need no further check.
    new = {path: format_contents(path, content) for path, content in spaced.items()}
    changed = {path: content for path, content in new.items() if content != contents[path]}
    return changed, found
