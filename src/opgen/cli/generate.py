"""`opgen generate`: write the tree, unless the stamp of the folder says that it is up to date.

`generating.py` is imported only if there is work to do: importing the stages takes longer than a run that does nothing.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from opgen.cli.help import command
from opgen.cli.options import path_option, schema_options, tree_options
from opgen.cli.report import Reporting, wants_color
from opgen.diagnostics import Diagnostics
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.project import find_project
from opgen.pipeline.stamp import Request, Stamp, find_stamp, read_request

# The arguments of opgen_add_operators, by settings.
_ARGUMENTS = {
    "yaml": "YAML",
    "target": "OPGEN_TARGET",
    "torch": "TORCH",
    "name": "NAME",
    "derivatives": "DERIVATIVES",
    "python": "PYTHON",
    "python_folder": "PYTHON_FOLDER",
    "frameworks": "FRAMEWORKS",
}


def print_settings(folder: str) -> None:
    """Print `set(settings_YAML ...)` and so on for the project of a folder, and its file as `settings_FILE`.

    Nothing if there are no settings. Errors in them are printed, and end the run.
    """
    diagnostics = Diagnostics()
    project = find_project(Path(folder).absolute(), diagnostics)
    Reporting().finish(diagnostics)
    if project is None:
        return
    click.echo(f"set(settings_FILE [==[{project.file}]==])")
    for name, argument in _ARGUMENTS.items():
        value = project.values.get(name)
        if value:
            items = value if isinstance(value, tuple) else ("TRUE" if value is True else value,)
            click.echo(f"set(settings_{argument} [==[{';'.join(map(str, items))}]==])")


class Generation(Struct, frozen=True):
    """A run of `opgen generate`: its request, and the options that its results do not depend on."""

    request: Request
    stamp: Stamp | None
    output: Path
    reporting: Reporting
    depfile: Path | None
    output_list: Path | None
    list_outputs: bool
    list_inputs: bool


@command("generate")
@schema_options
@tree_options
@path_option("--depfile")
@path_option("--output-list")
@click.option("--list-outputs", is_flag=True)
@click.option("--list-inputs", is_flag=True)
def generate(inputs: Inputs, output: Path, reporting: Reporting, **wanted: Any) -> None:
    """Write the tree, unless the folder is up to date."""
    request = read_request(inputs, (reporting, wants_color()))
    lists = wanted["list_outputs"] or wanted["list_inputs"]
    stamp = None if lists else find_stamp(output, request)
    if stamp is None or wanted["depfile"] is not None or wanted["output_list"] is not None:
        run = Generation(request, stamp, output, reporting, **wanted)
        importlib.import_module("opgen.cli.generating").generate(run)
        return
    reporting.print(stamp.report)
    reporting.say(f"{output}: 0 written, {stamp.unchanged} unchanged")
