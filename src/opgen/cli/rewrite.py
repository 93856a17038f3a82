"""New contents of the user's files: written back, or shown as differences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from opgen.cli.report import report_unwritable
from opgen.cli.streams import say
from opgen.diagnostics import Diagnostics
from opgen.edits import unified_diff
from opgen.files import rewrite_file
from opgen.pipeline import Inputs, schema_files
from opgen.reading import read_bytes


def read_contents(inputs: Inputs) -> dict[Path, bytes]:
    """The files of `inputs` that people write. What cannot be read is left to the check to report."""
    found = {path: read_bytes(path, Diagnostics()) for path in schema_files(inputs)}
    return {path: content for path, content in found.items() if content is not None}


def print_diffs(old: Mapping[Path, bytes], new: Mapping[Path, bytes], report_format: str) -> None:
    for path, content in new.items():
        before, after = old[path].decode("utf-8-sig"), content.decode("utf-8-sig")
        say(unified_diff(str(path), before, after), report_format, nl=False)


def write_back(
    old: Mapping[Path, bytes], new: Mapping[Path, bytes], diagnostics: Diagnostics
) -> None:
    """Write each file of `new` whole; report the first that cannot be, and leave those after it."""
    for path, content in new.items():
        try:
            if not path.is_file():
                why: str | None = "it is not a file"
            elif path.read_bytes() != old[path]:
                why = "it was changed in the meantime"
            else:
                rewrite_file(path, content)
                continue
        except OSError as error:
            why = error.strerror
        report_unwritable(path, why, diagnostics)
        return
