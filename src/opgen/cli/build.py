"""`opgen build`: generate, then configure and compile with CMake and Ninja."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from opgen import pipeline
from opgen.cli.options import FOLDER, python_option, schema_options, shards_option
from opgen.cli.report import finish, report_unwritable
from opgen.cli.streams import say
from opgen.diagnostics import Diagnostics
from opgen.files import Locked, locked
from opgen.pipeline import Inputs
from opgen.resources import cmake_dir
from opgen.targets import TARGETS
from opgen.writer import write

_NOT_FOR_CMAKE = re.compile(r"[;\"\n\r\\]|\$<")
_NINJA_STATUS = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")


@click.command()
@schema_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=FOLDER,
    help="The folder that receives the tree; compiled in its sub-folder cmake-build.",
)
@click.option(
    "--kernels",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A kernel source, or a folder whose *.cpp (and *.cu, for torch) are all compiled in. Repeatable.",
)
@click.option(
    "-I",
    "--include",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A folder of headers, for the kernels and for what the YAML includes. Repeatable.",
)
@click.option("--build-type", default="Release", show_default=True, help="CMake's build type.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Compilers at once.  [default: Ninja's]")
@shards_option
@python_option
@click.option(
    "--python-folder",
    type=click.Path(path_type=Path),
    help="A folder of Python of your own, which is copied into the package; ops.py in it is imported (torch).",
)
def build(
    inputs: Inputs,
    output: Path,
    kernels: tuple[Path, ...],
    folders: tuple[Path, ...],
    build_type: str,
    jobs: int | None,
    shards: int,
    python: bool,
    python_folder: Path | None,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Generate the C++ tree for YAML..., then compile it with the kernels that are written so far."""
    started = time.monotonic()
    diagnostics = Diagnostics()
    pipeline.check_world(inputs, diagnostics)
    sources = _kernel_sources(kernels, TARGETS[inputs.target].kernel_suffixes, diagnostics)
    headers = _folders(folders, "give one of headers", diagnostics)
    own = _own_python(python_folder, inputs, python, diagnostics)
    tree = pipeline.build_tree(inputs, diagnostics, shards=shards, python=python)
    folder = output / "cmake-build"
    given = {"OPGEN_KERNELS": sources, "OPGEN_INCLUDE": headers, "OPGEN_PYTHON_FOLDER": own}
    with _alone_in(folder, tree is None, diagnostics):
        if tree is not None and not diagnostics.has_errors:
            write(tree, output, diagnostics)
        finish(diagnostics, report_format, deny_warnings)
        assert tree is not None
        _configure(output, folder, given, build_type, inputs)
        _compile(folder, jobs)
    name = str(tree.header["name"])
    library = _shared_library(folder, name)
    if python:
        say(f"import {name}: in {folder / 'python'}", report_format)
    say(f"{library}  ({time.monotonic() - started:.1f} s)", report_format)


@contextmanager
def _alone_in(folder: Path, fails: bool, diagnostics: Diagnostics) -> Iterator[None]:
    """Hold the lock of a folder that is compiled in, which is made; E0903 if another run has it.

    Nothing is made if the run fails already.
    """
    with ExitStack() as stack:
        if not (fails or diagnostics.has_errors):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(folder))
            except Locked:
                message = f"another opgen is building in {folder}"
                hint = "run it again when that one is done"
                diagnostics.error("E0903", message, None, hint=hint)
            except (FileExistsError, NotADirectoryError):
                pass  # which writing reports
            except OSError as error:
                report_unwritable(error.filename or folder, error.strerror, diagnostics)
        yield


def _kernel_sources(
    paths: tuple[Path, ...], suffixes: tuple[str, ...], diagnostics: Diagnostics
) -> list[Path]:
    """Every source that `paths` name, absolute and sorted within each folder."""
    sources: list[Path] = []
    for path in paths:
        if path.is_dir():
            every = path.resolve().rglob("*")
            sources += sorted(file for file in every if file.suffix in suffixes and file.is_file())
        elif path.is_file():
            sources.append(path.resolve())
        else:
            diagnostics.error(
                "E0905", f"{path} does not exist", None, hint="give a *.cpp or a folder"
            )
    _check_names(sources, diagnostics)
    return sources


def _own_python(
    folder: Path | None, inputs: Inputs, python: bool, diagnostics: Diagnostics
) -> list[Path]:
    if folder is None:
        return []
    if not python or inputs.target != "torch":
        raise click.UsageError("--python-folder goes with --python and --target torch")
    return _folders((folder,), "give one with ops.py", diagnostics)


def _folders(paths: tuple[Path, ...], hint: str, diagnostics: Diagnostics) -> list[Path]:
    for path in paths:
        if not path.is_dir():
            diagnostics.error("E0905", f"{path} is no folder", None, hint=hint)
    folders = [path.resolve() for path in paths]
    _check_names(folders, diagnostics)
    return folders


def _check_names(paths: list[Path], diagnostics: Diagnostics) -> None:
    for path in paths:
        if _NOT_FOR_CMAKE.search(str(path)):
            message = f"{path}: CMake's lists cannot hold this name"
            hint = "rename what has a ';', a quote, a '$<' or a line end"
            diagnostics.error("E0905", message, None, hint=hint)


def _configure(
    output: Path, folder: Path, given: Mapping[str, list[Path]], build_type: str, inputs: Inputs
) -> None:
    """`given` are lists of CMake's."""
    yaml = [
        path.resolve() for path in inputs.yaml if not _NOT_FOR_CMAKE.search(str(path.resolve()))
    ]
    package = TARGETS[inputs.target].cmake_package
    command = [
        _tool("cmake"),
        "-S",
        str(output),
        "-B",
        str(folder),
        "-G",
        "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}",
        f"-DCMAKE_BUILD_TYPE={build_type}",
        f"-D{package}_DIR={cmake_dir()}",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    lists = {**given, "OPGEN_YAML": yaml}
    command += [f"-D{name}={';'.join(map(str, paths))}" for name, paths in lists.items()]
    if inputs.extends is not None:
        command.append(f"-DOPGEN_BASE_TREE={inputs.extends.resolve().parent}")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        click.echo(result.stdout + result.stderr, err=True)
        raise SystemExit(1)


def _compile(folder: Path, jobs: int | None) -> None:
    command = [_tool("cmake"), "--build", str(folder)]
    if jobs is not None:
        command += ["-j", str(jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    said: list[str] = []
    console = Console(stderr=True)
    columns = (TextColumn("{task.completed}/{task.total}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task("compile", total=None)
        for line in process.stdout:
            status = _NINJA_STATUS.match(line)
            if status:
                bar.update(task, completed=int(status[1]), total=int(status[2]))
            else:
                said.append(line)
    if process.wait():
        click.echo("".join(said), err=True, nl=False)
        raise SystemExit(1)


def _shared_library(folder: Path, name: str) -> Path:
    return next(
        iter(sorted(folder.rglob(f"lib{name}.so*")) or sorted(folder.rglob(f"lib{name}.*")))
    )


def _tool(name: str) -> str:
    """The program `name`: beside this Python first, as pip installs it, then on the PATH."""
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=str(beside)) or shutil.which(name)
    if found is None:
        raise click.UsageError(f"{name} is not installed; pip install {name}")
    return found
