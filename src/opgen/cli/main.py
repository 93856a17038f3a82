"""The `opgen` command: a group of the commands, and nothing else.

A command's module is imported when the command is asked for: `opgen --version` needs none of them, and
only `opgen build` needs what draws its bars. This is the one place that imports modules by name.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import click

from opgen import __version__
from opgen.resources import cmake_dir, runtime_dir


def _print_cmake_dir(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(cmake_dir())
        context.exit()


def _print_torch_include_dir(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(runtime_dir() / "torch" / "include")
        context.exit()


# The module of each command, and its name there.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "build": "build:build",
        "check": "check:check",
        "compat": "compat:compat",
        "completion": "completion:completion",
        "coverage": "coverage:coverage",
        "dump": "dump:dump",
        "explain": "explain:explain",
        "format": "format:format_command",
        "generate": "generate:generate",
        "import": "import_:import_command",
        "lint": "lint:lint",
        "lsp": "lsp:lsp",
        "new": "new:new",
        "schema": "schema:schema",
        "select": "select:select",
        "stub": "stub:stub",
    }
)


class _Group(click.Group):
    """Loads a command when it is asked for, and ends in a message, not in a traceback, where the
    system has no more to give."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"opgen.cli.{module}"), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MemoryError:
            problem = "out of memory"
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            problem = f"{error.filename or 'the output'}: {error.strerror}"
        # What is left in the buffer would be tried again at the end, and fail again.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        with contextlib.suppress(OSError):
            click.echo(f"opgen: {problem}", err=True)
        raise SystemExit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="opgen")
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_cmake_dir,
    help="Print the folder for CMAKE_PREFIX_PATH, so that find_package(opgen) works.",
)
@click.option(
    "--torch-include-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_torch_include_dir,
    help="Print the folder of headers that sources generated for target torch include.",
)
def main() -> None:
    """Turn native_functions.yaml into a registered, type-checked C++ operator library."""
    # A run keeps nearly every value it makes to its end, without cycles: looking for some takes a
    # fifth of the time of generating from PyTorch's file (105 MB at the peak with or without).
    gc.disable()
    # Nor is there any use in looking for cycles when the program ends.
    atexit.register(gc.freeze)
