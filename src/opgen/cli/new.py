"""`opgen new`: create a package of operators."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.help import Choice, command
from opgen.cli.options import FOLDER
from opgen.cli.report import Reporting, report_unwritable
from opgen.diagnostics import Diagnostics
from opgen.io.files import Locked, create_folder
from opgen.pipeline import scaffold
from opgen.pipeline.inputs import split_names
from opgen.targets import TARGETS


@command("new")
@click.argument("name")
@click.option("--target", type=Choice(sorted(TARGETS)), default="runtime")
@click.option("--frameworks", type=split_names, default=())
@click.option("-o", "--output", type=FOLDER)
def new(name: str, target: str, frameworks: tuple[str, ...], output: Path | None) -> None:
    """Create a package of operators to begin with."""
    diagnostics = Diagnostics()
    # A shell that completes the name of a folder adds a slash.
    name = name.removesuffix("/")
    texts = scaffold.new_package(name, target, diagnostics, frameworks)
    folder = Path(name) if output is None else output
    if not diagnostics.has_errors:
        try:
            create_folder(folder, {path: text.encode() for path, text in texts.items()})
        except Locked:
            report_unwritable(folder, "another opgen is writing there", diagnostics)
        except FileExistsError:
            message = f"{folder} exists and is not an empty folder"
            diagnostics.error("E0901", message, None, hint="choose another folder: -o FOLDER")
        except OSError as error:
            report_unwritable(error.filename or folder, error.strerror, diagnostics)
    Reporting().finish(diagnostics)
    click.echo(f"{folder}: {len(texts)} files; README.md explains how to build and test it")
