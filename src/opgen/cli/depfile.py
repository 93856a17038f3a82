"""What build systems ask of a run: the files that it reads and those that it makes."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from opgen.cli.report import report_unwritable
from opgen.diagnostics import Diagnostics
from opgen.files import read_regular, replace_users_file

_LINE_END = re.compile(r"[\n\r]")


def write_depfile(
    depfile: Path, targets: Iterable[Path], inputs: Iterable[Path], diagnostics: Diagnostics
) -> None:
    """A Makefile that says that `targets` are made of `inputs`; E0904 if it cannot be written."""
    targets, inputs = tuple(targets), tuple(inputs)
    for path in (*targets, *inputs):
        if _LINE_END.search(str(path)):
            # No Makefile can name it; where it ends, something else would be read.
            why = f"it would name {str(path)!r}, and a Makefile has no way to write a line break"
            report_unwritable(depfile, why, diagnostics)
            return
    text = f"{_escaped(targets)}: {_escaped(inputs)}\n"
    _replace(depfile, os.fsencode(text), diagnostics)


def write_output_list(path: Path, outputs: Iterable[str], diagnostics: Diagnostics) -> None:
    """One path a line; a file that says so already is left alone. E0904 if it cannot be written."""
    text = "".join(f"{output}\n" for output in outputs).encode()
    with suppress(OSError):
        if read_regular(path)[1] == text:
            return
    _replace(path, text, diagnostics)


def _replace(path: Path, text: bytes, diagnostics: Diagnostics) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() or (os.path.lexists(path) and not path.is_file()):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        replace_users_file(path, text)
    except OSError as error:
        report_unwritable(path, error.strerror, diagnostics)


def _escaped(paths: Iterable[Path]) -> str:
    """`paths` as a Makefile writes them."""
    return " ".join(
        str(path).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ") for path in paths
    )
