"""The options that every schema-reading command takes, gathered into one `Inputs` value."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from opgen import pipeline
from opgen.pipeline import Inputs

# Those of opgen.targets, by name: a run that has nothing to do does not import them.
TARGET_NAMES = ("runtime", "torch")


class _Folder(click.Path):
    """A folder's path. An empty one, of a variable that is not set, is not taken for the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("the path is empty; write '.' for the current folder", param, ctx)
        return super().convert(value, param, ctx)


# What -o is of the commands whose output is a tree.
FOLDER = _Folder(path_type=Path)

_YAML_ARGUMENT = click.argument(
    "yaml", nargs=-1, type=click.Path(path_type=Path), metavar="YAML..."
)
_YAML_OPTION = click.option(
    "--yaml",
    multiple=True,
    default=("native_functions.yaml",),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where the operators are defined; repeatable.",
)

# Of every command that makes a tree: a tree is compared with one of as many shards.
shards_option = click.option("--shards", type=click.IntRange(1, 64), default=1, show_default=True)

python_option = click.option(
    "--python", is_flag=True, help="Make the library a package of Python, too."
)

_COMMON = (
    click.option(
        "--target",
        type=click.Choice(TARGET_NAMES),
        default="runtime",
        show_default=True,
        help="The C++ world to generate for.",
    ),
    click.option(
        "--tags",
        type=click.Path(path_type=Path),
        help="The tags file.  [default: tags.yaml beside the YAML, else the built-in list]",
    ),
    click.option("--backends", default="", help="Keep only these dispatch keys (and composites)."),
    click.option("--ignore-keys", default="", help="Drop the rows of these dispatch keys."),
    click.option(
        "--extends",
        type=click.Path(path_type=Path),
        help="The manifest of the library whose Tensor class is used.",
    ),
    click.option(
        "--select",
        multiple=True,
        type=click.Path(path_type=Path),
        help="A selective-build YAML: only what it selects is compiled; repeatable.",
    ),
    click.option(
        "--backend-yaml",
        type=click.Path(path_type=Path),
        help="The YAML of an external backend, whose class and registrations are made, too.",
    ),
    click.option(
        "--impl-path",
        type=click.Path(path_type=Path),
        help="The C++ source that has to define every kernel of the external backend.",
    ),
    click.option(
        "--strict-torchgen",
        is_flag=True,
        help="Hold every operator to torchgen's rules, and refuse what torchgen does not know.",
    ),
    click.option(
        "--namespace",
        help="The namespace of operators that are written without one, in files that do not say it.",
    ),
    click.option("--name", help="The library.  [default: the namespace, if there is only one]"),
    click.option(
        "--format",
        "report_format",
        type=click.Choice(["human", "json", "github", "sarif"]),
        default="human",
        show_default=True,
        help="How diagnostics are printed: to stderr for people, else to stdout.",
    ),
    click.option("--deny-warnings", is_flag=True, help="Exit 1 on a warning, too."),
)


def operator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """As `schema_options`, for a command whose arguments are operators: YAML is an option."""
    return _YAML_OPTION(_with_inputs(command))


def schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give `command` the arguments YAML... and the common options.

    The command is called with `inputs: Inputs`, `report_format: str`, `deny_warnings: bool` and its
    own parameters.
    """
    return _YAML_ARGUMENT(_with_inputs(command))


def _with_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(command)
    def with_inputs(
        yaml: tuple[Path, ...],
        target: str,
        tags: Path | None,
        backends: str,
        ignore_keys: str,
        extends: Path | None,
        name: str | None,
        select: tuple[Path, ...],
        backend_yaml: Path | None,
        impl_path: Path | None,
        strict_torchgen: bool,
        namespace: str | None,
        **rest: Any,
    ) -> Any:
        inputs = Inputs(
            yaml=yaml or (installed_schema(target, backend_yaml),),
            tags=tags,
            target=target,
            backends=_names(backends),
            ignore_keys=_names(ignore_keys),
            extends=extends,
            name=name,
            select=select,
            backend_yaml=backend_yaml,
            impl_path=impl_path,
            strict_torchgen=strict_torchgen,
            namespace=namespace,
        )
        return command(inputs=inputs, **rest)

    decorated: Callable[..., Any] = with_inputs
    for option in reversed(_COMMON):
        decorated = option(decorated)
    return decorated


def installed_schema(target: str, backend_yaml: Path | None) -> Path:
    """The YAML of the operators that an external backend is for, where the command line names none."""
    package = None if backend_yaml is None else pipeline.installed_package(target)
    if package is None:
        raise click.UsageError("Missing argument 'YAML...'.")
    path: Path | None = pipeline.installed_schema(target)
    if path is None:
        raise click.UsageError(
            f"no YAML is given, and Python package {package}, which has {target}'s, is not installed"
            f" for {sys.executable}"
        )
    return path


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
