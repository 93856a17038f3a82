"""Write files for build systems: the inputs and outputs of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from opgen.cli.report import report_unwritable, write_output
from opgen.diagnostics import Diagnostics
from opgen.io.files import read_regular

_LINE_END = re.compile(r"[\n\r]")


def write_depfile(
    depfile: Path, targets: Iterable[Path], inputs: Iterable[Path], diagnostics: Diagnostics
) -> None:
    """Write a Makefile in which `targets` depend on `inputs`; report E0904 if that fails."""
    targets, inputs = tuple(targets), tuple(inputs)
    for path in (*targets, *inputs):
        if _LINE_END.search(str(path)):
            why = f"a Makefile cannot contain the line break in {str(path)!r}"
            report_unwritable(depfile, why, diagnostics)
            return
    text = f"{_escape(targets)}: {_escape(inputs)}\n"
    write_output(depfile, os.fsencode(text), diagnostics)


def write_output_list(path: Path, outputs: Iterable[str], diagnostics: Diagnostics) -> None:
    """Write one path per line, unless the file has this content; report E0904 if that fails."""
    text = "".join(f"{output}\n" for output in outputs).encode()
    with suppress(OSError):
        if read_regular(path)[1] == text:
            return
    write_output(path, text, diagnostics)


def _escape(paths: Iterable[Path]) -> str:
    """Escape `paths` for a Makefile."""
    return " ".join(
        str(path).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ") for path in paths
    )
