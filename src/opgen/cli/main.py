"""The `opgen` command: a group of the commands, and nothing else."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys
from typing import Any

import click

from opgen import __version__
from opgen.cli.build import build
from opgen.cli.check import check
from opgen.cli.compat import compat
from opgen.cli.completion import completion
from opgen.cli.dump import dump
from opgen.cli.explain import explain
from opgen.cli.format import format_command
from opgen.cli.generate import generate
from opgen.cli.lint import lint
from opgen.cli.lsp import lsp
from opgen.cli.schema import schema
from opgen.cli.stub import stub
from opgen.resources import cmake_dir


def _print_cmake_dir(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(cmake_dir())
        context.exit()


class _Group(click.Group):
    """Ends in a message, not in a traceback, where the system has no more to give."""

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
def main() -> None:
    """Turn native_functions.yaml into a registered, type-checked C++ operator library."""
    # A run keeps nearly every value it makes to its end, without cycles: looking for some takes a
    # fifth of the time of generating from PyTorch's file (105 MB at the peak with or without).
    gc.disable()


_COMMANDS = (
    *(generate, check, lint, format_command, build),
    *(dump, explain, stub, compat, schema, completion, lsp),
)

for command in _COMMANDS:
    main.add_command(command)
