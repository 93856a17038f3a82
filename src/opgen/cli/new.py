"""`opgen new`: a package of operators to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.options import FOLDER
from opgen.cli.report import finish, report_unwritable
from opgen.diagnostics import Diagnostics
from opgen.files import Locked
from opgen.new_folder import create_folder
from opgen.targets import TARGETS


@click.command()
@click.argument("name")
@click.option(
    "--target",
    type=click.Choice(sorted(TARGETS)),
    default="runtime",
    show_default=True,
    help="Operators on opgen's own tensors, or on PyTorch's.",
)
@click.option("-o", "--output", type=FOLDER, help="The new folder.  [default: NAME]")
def new(name: str, target: str, output: Path | None) -> None:
    """Make a folder with a package of operators: two of them, their kernels, tests, a build, a CI job.

    The folder may not hold anything yet.
    """
    diagnostics = Diagnostics()
    texts = pipeline.new_package(name, target, diagnostics)
    folder = Path(name) if output is None else output
    if not diagnostics.has_errors:
        _write(folder, texts, diagnostics)
    finish(diagnostics, "human", False)
    click.echo(f"{folder}: {len(texts)} files; its README.md says how to build and test it")


def _write(folder: Path, texts: Mapping[str, str], diagnostics: Diagnostics) -> None:
    try:
        create_folder(folder, {path: text.encode() for path, text in texts.items()})
    except Locked:
        report_unwritable(folder, "another opgen is writing there", diagnostics)
    except FileExistsError:
        message = f"{folder} is there already, and is no empty folder"
        diagnostics.error("E0901", message, None, hint="name another one: -o FOLDER")
    except OSError as error:
        report_unwritable(error.filename or folder, error.strerror, diagnostics)
