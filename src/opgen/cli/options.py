"""Declare the options of all commands that read schemas, and make an `Inputs` value of them."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from opgen.cli.help import Choice, ProjectOption
from opgen.cli.report import Reporting
from opgen.diagnostics import Diagnostics
from opgen.pipeline import inputs
from opgen.pipeline.inputs import MAX_SHARDS, OPTIONS, Form, Inputs, split_names
from opgen.pipeline.project import Project, find_project
from opgen.targets import TARGETS

_Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


class _Folder(click.Path):
    """The path of a folder. An empty path, as of an unset variable, is an error and not the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("the path is empty; write '.' for the current folder", param, ctx)
        return super().convert(value, param, ctx)


# The type of -o for commands whose output is a tree, and that of other paths.
FOLDER = _Folder(path_type=Path)
FILE = click.Path(path_type=Path)
path_option = functools.partial(click.option, type=FILE)

# The schema file of a command line that names none.
DEFAULT_YAML = Path("native_functions.yaml")
_IS_FILE = re.compile(r"\.ya?ml$|[/\\]")
# Commands that may be run for files of several projects.
_OF_FILES = ("lint", "format")


_TYPES: Mapping[Form, Any] = {
    Form.path: FILE,
    Form.paths: FILE,
    Form.names: split_names,
    Form.number: click.IntRange(1, MAX_SHARDS),
}
# Options of the commands that generate a tree.
_OF_TREES = ("shards", "python", "frameworks")


def _option(name: str) -> _Decorator:
    """Return the option of `OPTIONS` with this name."""
    option = OPTIONS[name]
    return click.option(
        *(["-I"] if name == "include" else []),
        option.flag(name),
        cls=ProjectOption,
        type=Choice(sorted(TARGETS)) if name == "target" else _TYPES.get(option.form),
        multiple=option.form is Form.paths,
        is_flag=option.form is Form.flag,
        default=None if option.form is Form.paths else option.default,
    )


python_option = click.option("--python/--no-python", cls=ProjectOption, default=False)
# The folder of the tree, which the command line or the project's settings name: `output: Path`.
output_option = click.option("-o", "--output", cls=ProjectOption, is_needed=True, type=FOLDER)


def tree_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add -o and the options of `inputs` that only commands for a tree have: `output: Path`."""
    return output_option(_option("shards")(python_option(_option("frameworks")(command))))


# The number of processes: `jobs: int | None`.
jobs_option = click.option("-j", "--jobs", type=click.IntRange(1))


def format_option(*formats: str) -> _Decorator:
    """Add --format, with these formats, of which "human" is the default: `report_format: str`."""
    return click.option("--format", "report_format", type=Choice(formats), default="human")


def report_options(*formats: str) -> _Decorator:
    """Add --format, with these formats, and --deny-warnings: `report_format: str` and `deny_warnings: bool`."""
    denied = click.option("--deny-warnings/--no-deny-warnings", cls=ProjectOption, default=False)
    return lambda command: format_option(*formats)(denied(command))


def schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments [YAML]... and the common options to `command`.

    The command is called with `inputs: Inputs`, `reporting: Reporting` and its own parameters.
    """
    return click.argument("yaml", nargs=-1, type=FILE)(_with_inputs(command))


def operator_options(complete: Callable[..., Any], without_yaml: str | None = None) -> _Decorator:
    """Do as `schema_options`, for a command whose arguments are the YAML and then other words, usually operators.

    The command is called with `words: tuple[str, ...]`, too. An argument that ends in .yaml or .yml or has a slash is a
    file. `complete` completes the words. No YAML is needed if all words match `without_yaml`; the command then answers a
    line without words.
    """
    takes_no_yaml = re.compile(without_yaml or "(?!)").fullmatch

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        decorated = _with_inputs(command)

        @functools.wraps(decorated)
        def with_words(given: tuple[str, ...], **rest: Any) -> Any:
            files, words = split_arguments(given)
            if not files and (words or without_yaml) and all(map(takes_no_yaml, words)):
                # Settings with an error must not hide the explanation of the error.
                files, rest = (DEFAULT_YAML,), {**rest, "project": None}
            return decorated(yaml=files, words=words, **rest)

        return click.argument("given", nargs=-1, shell_complete=complete)(with_words)

    return decorate


def split_arguments(given: Sequence[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the files among `given` arguments, and the other words."""
    files = tuple(Path(word) for word in given if _IS_FILE.search(word))
    return files, tuple(word for word in given if not _IS_FILE.search(word))


def _with_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(command)
    def with_inputs(**given: Any) -> Any:
        groups = _by_project(given)
        if len(groups) == 1:
            return with_one_project(given)
        failed = False
        for yaml in groups:
            try:
                with_one_project({**given, "yaml": yaml})
            except SystemExit as end:
                failed |= bool(end.code)
        if failed:
            raise SystemExit(1)
        return None

    def with_one_project(given: Mapping[str, Any]) -> Any:
        rest = with_settings(given)
        yaml = rest.pop("yaml") or (default_schema(rest["target"], rest["backend_yaml"]),)
        options = {name: rest.pop(name) for name in OPTIONS if name in rest}
        inputs = Inputs(yaml, project=rest.pop("project"), **options)
        reporting = Reporting(rest.pop("report_format"), rest.pop("deny_warnings"))
        return command(inputs=inputs, reporting=reporting, **rest)

    decorated = report_options("human", "json", "github", "sarif")(with_inputs)
    for name in reversed([name for name in OPTIONS if name not in _OF_TREES]):
        decorated = _option(name)(decorated)
    return decorated


def with_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the current command's parameters, where the project's settings replace defaults.

    `yaml` are then files, none if neither the command line nor the settings name one, and `project` is the file of the
    settings; if it is given, nothing is read. Prints errors in the settings, and exits.
    """
    values = dict(given)
    if "project" in values:
        return values
    context = click.get_current_context()
    project = find_settings(values["yaml"], values.get("report_format", "human"))
    top = None if project is None else os.path.abspath(project.file.parent)
    schemas: list[Path] = []
    for path in values["yaml"]:
        of_project = project.yaml if project is not None and os.path.abspath(path) == top else ()
        schemas += (of_project or (path / DEFAULT_YAML,)) if path.is_dir() else (path,)
    values["yaml"] = tuple(schemas)
    if not values["yaml"] and project is not None and values.get("backend_yaml") is None:
        values["yaml"] = project.yaml
    settings = project.values_for(values["yaml"]) if project is not None else {}
    values["project"] = None if project is None else project.file
    for param in context.command.params:
        if not isinstance(param, ProjectOption) or param.name is None:
            continue
        if param.name in settings and not is_given(param.name):
            values[param.name] = settings[param.name]
        if param.is_needed and values[param.name] is None:
            raise click.MissingParameter(ctx=context, param=param)
    return values


def is_given(name: str) -> bool:
    """Return whether the current command line has a value for a parameter."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, ParameterSource.DEFAULT)


def _by_project(given: Mapping[str, Any]) -> tuple[tuple[Path, ...], ...]:
    """Divide the schema files of a command line into those of each project, for commands that report on files.

    A hook of pre-commit passes all files of a commit. Other commands make one library of all files, as do a check of
    kernels and a report that has to be one document.
    """
    command = click.get_current_context().command.name
    is_one = command not in _OF_FILES or given.get("kernels") or given["report_format"] == "sarif"
    if is_one or "project" in given or len(given["yaml"]) < 2:
        return (given["yaml"],)
    groups: dict[Path | None, list[Path]] = {}
    for path in given["yaml"]:
        project = find_project(path if path.is_dir() else path.parent, Diagnostics())
        groups.setdefault(None if project is None else project.file, []).append(path)
    return tuple(map(tuple, groups.values()))


def find_settings(yaml: Sequence[Path], report_format: str) -> Project | None:
    """Return the settings for these schema files, or for the current folder.

    Prints errors in them, and exits. Raises UsageError if the files have several.
    """
    diagnostics = Diagnostics()
    folders = dict.fromkeys(p if p.is_dir() else p.parent for p in yaml or (Path("_"),))
    found = {p.file: p for p in (find_project(f, diagnostics) for f in folders) if p is not None}
    if len(found) > 1:
        first, second, *_ = found
        raise click.UsageError(
            f"the files are of two projects, with settings in {first} and in {second}; name those of one"
        )
    if diagnostics.has_errors:
        Reporting(report_format).finish(diagnostics)
    return next(iter(found.values()), None)


def default_schema(target: str, backend_yaml: Path | None) -> Path:
    """Return the YAML for a command line that names none.

    For an external backend, that is the YAML of the installed package; otherwise it is native_functions.yaml. Raises
    UsageError if there is no such file.
    """
    library = TARGETS[target].installed
    if backend_yaml is not None and library is not None:
        path = inputs.find_installed(target, "schema")
        if path is None:
            raise click.UsageError(
                f"no YAML is given, and the Python package {library.package}, which contains the YAML of {target},"
                f" is not installed for {sys.executable}"
            )
        return path
    if not os.path.lexists(DEFAULT_YAML):
        raise click.UsageError(
            f"Missing argument 'YAML...': there is no {DEFAULT_YAML} in this folder."
        )
    return DEFAULT_YAML
