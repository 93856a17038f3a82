"""Files without errors into files formatted: white space by the fixes of its errors, then the keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.edits.fixing import Checked, fix_all
from opgen.edits.formatter import format_contents

# Of some contents: where white space is not as it is written, if nothing else is wrong; and all
# that is wrong.
CheckBlanks = Callable[[Mapping[Path, bytes]], Checked[Diagnostics]]


def format_all(
    contents: Mapping[Path, bytes], check: CheckBlanks
) -> tuple[Mapping[Path, bytes], Diagnostics]:
    """What formatting changes, and what is wrong with the files then.

    Files with errors other than of white space stay as they are: nothing changes, and the errors are
    those of the files as they are.
    """
    fixed = fix_all(contents, check)
    found = fixed.last[1]
    if found.has_errors:
        return {}, fixed.first[1]
    spaced = {**contents, **fixed.contents}
    # An entry says the same in every order of its keys, so the files are not read once more.
    new = {path: format_contents(path, content) for path, content in spaced.items()}
    changed = {path: content for path, content in new.items() if content != contents[path]}
    return changed, found
