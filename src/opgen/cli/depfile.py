"""What build systems ask of a run: the files that it reads and those that it makes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from opgen.cli.report import report_unwritable
from opgen.diagnostics import Diagnostics
from opgen.files import replace_file


def write_depfile(
    depfile: Path, targets: Iterable[Path], inputs: Iterable[Path], diagnostics: Diagnostics
) -> None:
    """A Makefile that says that `targets` are made of `inputs`; E0904 if it cannot be written."""
    text = f"{_escaped(targets)}: {_escaped(inputs)}\n"
    _replace(depfile, os.fsencode(text), diagnostics)


def write_output_list(path: Path, outputs: Iterable[str], diagnostics: Diagnostics) -> None:
    """One path a line; a file that says so already is left alone. E0904 if it cannot be written."""
    text = "".join(f"{output}\n" for output in outputs).encode()
    if not (path.is_file() and path.read_bytes() == text):
        _replace(path, text, diagnostics)


def _replace(path: Path, text: bytes, diagnostics: Diagnostics) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        report_unwritable(path, error.strerror, diagnostics)


def _escaped(paths: Iterable[Path]) -> str:
    """`paths` as a Makefile writes them."""
    return " ".join(
        str(path).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ") for path in paths
    )
