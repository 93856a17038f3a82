"""`opgen new`: create a package of operators."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.help import Argument, Choice, Command
from opgen.cli.options import FOLDER
from opgen.cli.report import Reporting, report_unwritable
from opgen.diagnostics import Diagnostics
from opgen.io.files import Locked, create_folder
from opgen.pipeline import scaffold
from opgen.pipeline.inputs import OPTIONS, split_names
from opgen.targets import TARGETS


@click.command(
    cls=Command,
    example="opgen new leaky",
    fails="there is an error",
    pages=("start/runtime", "start/torch"),
)
@click.argument(
    "name",
    cls=Argument,
    rows=(("NAME", "The name of the library."),),
)
@click.option(
    "--target",
    type=Choice(sorted(TARGETS)),
    default="runtime",
    show_default=True,
    help="Operators on opgen's own tensors or on PyTorch's.",
)
@click.option(
    "--frameworks",
    type=split_names,
    default=(),
    metavar="NAMES",
    help=OPTIONS["frameworks"].help,
)
@click.option(
    "-o", "--output", type=FOLDER, metavar="FOLDER", help="The new folder.  [default: NAME]"
)
def new(name: str, target: str, frameworks: tuple[str, ...], output: Path | None) -> None:
    """Create a package of operators to begin with.

    It has two operators, their kernels, tests, a build and a CI job. The folder must be new or empty.
    """
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
