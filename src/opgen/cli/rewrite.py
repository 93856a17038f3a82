"""Write changed contents back to the user's files, or print the differences."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path

from opgen.cli.report import report_unwritable, say
from opgen.diagnostics import Diagnostics
from opgen.io.files import rewrite_file
from opgen.pipeline.inputs import Inputs, schema_files
from opgen.pipeline.reading import read_bytes

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def unified_diff(old_name: str, new_name: str, old: str, new: str) -> str:
    """Return the differences between two texts as a unified diff, empty if there are none.

    Lines keep their ends, so `patch` turns the old text into exactly the new one.
    """
    lines = difflib.unified_diff(
        _LINES.findall(old), _LINES.findall(new), fromfile=old_name, tofile=new_name
    )
    return "".join(
        line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"
        for line in lines
    )


def read_contents(inputs: Inputs) -> dict[Path, bytes]:
    """Read the schema files of `inputs`. Files that cannot be read are left out; the check reports them."""
    found = {path: read_bytes(path, Diagnostics()) for path in schema_files(inputs)}
    return {path: content for path, content in found.items() if content is not None}


def print_diffs(old: Mapping[Path, bytes], new: Mapping[Path, bytes], report_format: str) -> None:
    """Print the differences between the old and new contents of each file of `new`."""
    for path, content in new.items():
        before, after = old[path].decode("utf-8-sig"), content.decode("utf-8-sig")
        say(unified_diff(str(path), str(path), before, after), report_format, nl=False)


def write_back(
    old: Mapping[Path, bytes], new: Mapping[Path, bytes], diagnostics: Diagnostics
) -> None:
    """Write the files of `new`; report the first that cannot be written, and stop there."""
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
