"""The `opgen` command: the group of all commands.

Imports take most of the time of a short run, so this module imports a command's module only when the command runs. Other
modules import late, each for its own reason:

* `cli/generate.py` imports `cli/generating.py` if there is work to do, and `cli/lint.py` `cli/build.py` if it checks kernels.
* `cli/help.py` imports the suggestions for a wrong command line.
* `opgen/__init__.py` imports `opgen.api`, and with it all stages, when one of the public names is first used.
* `targets/base.py` and `templating/environment.py` import `importlib.metadata` to ask for a version: it takes 10 ms.
* `cli/editors.py` imports the language server after it has checked that pygls, which is optional, is installed.
* `importing/list_operators.py` runs in the process of another Python, and imports torch and the user's modules.

All other imports are at the top of their modules; ruff's rule PLC0415 checks this.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from opgen import __version__
from opgen.cli.help import Group
from opgen.data import cmake_dir, runtime_dir


def _path_option(
    name: str, path: Callable[[], Path], help: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a flag that prints a path, and ends the command."""

    def print_path(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            click.echo(path())
            context.exit()

    return click.option(
        name, is_flag=True, is_eager=True, expose_value=False, callback=print_path, help=help
    )


def _print_cmake_settings(context: click.Context, _: click.Parameter, folder: str | None) -> None:
    if folder is not None:
        importlib.import_module("opgen.cli.generate").print_settings(folder)
        context.exit()


# The commands by purpose.
_PURPOSES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "Begin": ("new", "import"),
        "Write operators": ("lint", "format", "stub", "explain"),
        "Generate and compile": ("build", "generate", "check", "cache"),
        "Test": ("verify",),
        "Releases, applications, backends": ("compat", "select", "coverage"),
        "Read": ("docs", "dump", "schema"),
        "Editors and shells": ("lsp", "completion"),
    }
)
# The modules of commands whose module has another name.
_MODULES = {
    **dict.fromkeys(("stub", "explain", "select", "dump", "schema"), "queries"),
    **dict.fromkeys(("lsp", "completion"), "editors"),
    "import": "import_",
    "format": "lint",
}
# The module of each command.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {name: _MODULES.get(name, name) for commands in _PURPOSES.values() for name in commands}
)


class _Group(Group):
    """Loads commands when they run, and prints a message instead of a traceback if memory or the disk is full."""

    purposes = _PURPOSES

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found = vars(importlib.import_module(f"opgen.cli.{COMMANDS[cmd_name]}")).values()
        commands = (one for one in found if isinstance(one, click.Command) and one.name == cmd_name)
        return next(commands)

    def invoke(self, ctx: click.Context) -> Any:
        # A run keeps nearly all of its values to the end, and they have no cycles. The collector would take a fifth of the
        # time, and would save no memory: with PyTorch's file, the peak is 105 MB either way.
        gc.disable()
        atexit.register(gc.freeze)
        try:
            return super().invoke(ctx)
        except MemoryError:
            problem = "out of memory"
        except RecursionError:
            problem = "the input is nested too deeply"
        except ImportError as error:
            # A command's module says which packages it needs.
            if isinstance(error, ModuleNotFoundError):
                raise
            problem = str(error)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            problem = f"{error.filename or 'the output'}: {error.strerror or error}"
        # Otherwise, Python would try again to write the rest of the buffer at exit.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        with contextlib.suppress(OSError):
            click.echo(f"error: {problem}", err=True)
        raise SystemExit(1)


@click.group(
    "opgen",
    cls=_Group,
    context_settings={"help_option_names": ["--help"], "max_content_width": 120},
    epilog="'opgen COMMAND --help' explains a command, 'opgen docs' lists the pages of the documentation.",
)
@click.version_option(__version__, "-V", "--version", prog_name="opgen")
@_path_option(
    "--cmake-dir",
    cmake_dir,
    "Print the folder of opgen's CMake packages, for -D opgen_DIR, opgen_torch_DIR or CMAKE_PREFIX_PATH.",
)
@click.option(
    # For opgen's own CMake functions.
    "--cmake-settings",
    hidden=True,
    is_eager=True,
    expose_value=False,
    callback=_print_cmake_settings,
)
@_path_option(
    "--torch-include-dir",
    lambda: runtime_dir() / "torch" / "include",
    "Print the folder of headers that sources generated for target torch include.",
)
@_path_option(
    "--gdb-script",
    lambda: runtime_dir() / "gdb" / "opgen_gdb.py",
    "Print the file for gdb -x: it prints tensors and dispatch keys.",
)
def main() -> None:
    """Turn native_functions.yaml into a registered, type-checked C++ operator library."""
