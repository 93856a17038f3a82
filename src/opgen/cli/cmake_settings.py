"""Print the settings of a project as CMake code, for `opgen_add_operators`."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.report import finish
from opgen.diagnostics import Diagnostics
from opgen.pipeline.project import find_project

# The arguments of opgen_add_operators, by settings.
_ARGUMENTS = {
    "yaml": "YAML",
    "target": "OPGEN_TARGET",
    "torch": "TORCH",
    "name": "NAME",
    "derivatives": "DERIVATIVES",
    "python": "PYTHON",
    "python_folder": "PYTHON_FOLDER",
}


def print_settings(folder: str) -> None:
    """Print `set(settings_YAML ...)` and so on for the project of a folder, and its file as `settings_FILE`.

    Nothing if there are no settings. Errors in them are printed, and end the run.
    """
    diagnostics = Diagnostics()
    project = find_project(Path(folder).absolute(), diagnostics)
    finish(diagnostics, "human", False)
    if project is None:
        return
    click.echo(f"set(settings_FILE [==[{project.file}]==])")
    for name, argument in _ARGUMENTS.items():
        value = project.values.get(name)
        if value:
            items = value if isinstance(value, tuple) else ("TRUE" if value is True else value,)
            click.echo(f"set(settings_{argument} [==[{';'.join(map(str, items))}]==])")
