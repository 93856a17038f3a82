"""`opgen build`: generate, then configure and compile with CMake and Ninja; and `opgen lint --kernels`, a step of builds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
from msgspec.structs import replace

from opgen.cli.help import ProjectOption, command
from opgen.cli.options import jobs_option, path_option, schema_options, tree_options
from opgen.cli.report import Reporting, report_unwritable, show_progress
from opgen.data import cmake_dir
from opgen.diagnostics import Diagnostics, counted
from opgen.diagnostics.rendering import summarize
from opgen.diagnostics.suggestions import shorten
from opgen.emit.common.context import Context
from opgen.emit.kernels.stubs import missing_functions
from opgen.io.files import Locked, locked
from opgen.io.writer import report_author_files
from opgen.model.native_function import KernelSource
from opgen.pipeline import building, generating
from opgen.pipeline.building import describe_omissions, explain_failure
from opgen.pipeline.derivatives import Gradients, check_called_functions
from opgen.pipeline.generating import checked_context, write_tree
from opgen.pipeline.inputs import Inputs, derivatives_paths, folders_with_headers, with_contents
from opgen.pipeline.kernel_sources import (
    BUILD_FOLDER,
    find_folders,
    find_sources,
    report_kernels,
    shown_path,
)
from opgen.targets import TARGETS
from opgen.targets.base import FileKind

# The kernel sources that opgen_torchConfig.cmake leaves out.
_CMAKE_LEFT_OUT = re.compile(r"^OPGEN_LEFT_OUT:INTERNAL=(.+)$", re.MULTILINE)
# The linker takes a comma in the path of a library for the end of an option; Ninja and CMake replace `$`.
_NOT_FOR_CMAKE = re.compile(r"[;\"\n\r\\,]|\$[<{(]|\$ENV")
# With the longest name in a build folder, compilers and Ninja still accept the path.
_LONGEST_PATH = 3000
_NINJA_STATUS = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")


@command("build")
@schema_options
@tree_options
@path_option("--kernels", cls=ProjectOption, multiple=True)
@click.option("--build-type", default="Release")
@jobs_option
@path_option("--python-folder", cls=ProjectOption)
@click.option("-v", "--verbose", is_flag=True)
def build(
    inputs: Inputs,
    output: Path,
    kernels: tuple[Path, ...],
    build_type: str,
    jobs: int | None,
    python_folder: Path | None,
    verbose: bool,
    reporting: Reporting,
) -> None:
    """Generate the tree, and compile it. Kernels that are not written yet are stubs."""
    started = time.monotonic()
    diagnostics = Diagnostics()
    building.check_required_package(inputs, diagnostics)
    # Warnings that are printed before anything is written.
    early = Diagnostics()
    suffixes = TARGETS[inputs.target].plan.kernel_suffixes
    sources = find_sources(kernels, suffixes, output, early)
    _check_names([output.absolute(), *sources], diagnostics)
    headers = _folders(inputs.include, "name a folder of headers", diagnostics)
    own_python = () if python_folder is None else (python_folder,)
    has_functions = FileKind.PYTHON_FUNCTIONS in TARGETS[inputs.target].plan.kinds
    if own_python and not (inputs.python and has_functions):
        message = "--python-folder goes with --python and --target torch or torch-stable"
        raise click.UsageError(message)
    own = _folders(own_python, "name a folder with ops.py", diagnostics)
    # The compiler looks for headers beside the kernels, too.
    beside = dict.fromkeys(Path(shown_path(source.parent)) for source in sources)
    found = folders_with_headers(replace(inputs, include=tuple(beside)))
    inputs = with_contents(replace(inputs, include=(*inputs.include, *found)))
    context = generating.generated_context(inputs, diagnostics)
    tree = None if context is None else generating.render_tree(context, inputs)
    if context is not None and tree is not None:
        report_kernels(sources, headers, context, inputs, early)
        gradients = Gradients(context.gradients, context.formula_files)
        check_called_functions(gradients, inputs, early)
        report_author_files(tree.files.keys(), output, early)
    if not reporting.is_human or reporting.fails(early):
        diagnostics.extend(early)
        early = Diagnostics()
    failed = tree is None or reporting.fails(diagnostics)
    folder = output / BUILD_FOLDER
    lists = {"OPGEN_KERNELS": sources, "OPGEN_INCLUDE": headers, "OPGEN_PYTHON_FOLDER": own}
    with _alone_in(folder, failed, diagnostics):
        if tree is not None and not failed and not diagnostics.has_errors:
            reporting.announce(early)
            write_tree(tree, inputs, output, diagnostics)
        reporting.finish(diagnostics)
        assert tree is not None and context is not None
        _configure(output, folder, lists, build_type, inputs)
        runtime = folder / "opgen-runtime"
        parts = [part for part in ("core", "kernels", "runtime") if (runtime / part).is_dir()]
        if sources and not all(any(runtime.glob(f"libopgen_{part}.*")) for part in parts):
            # A part of the runtime is yet to be compiled, which takes long: errors in these are reported before that.
            named = sources[0].name if len(sources) == 1 else f"{len(sources)} kernel sources"
            _progress(f"compiling {named}")
            _compile(folder, jobs, sources, context, verbose=verbose, first=True)
        what = "the library" + (" and its Python package" if inputs.python else "")
        _progress(f"compiling {what}")
        _compile(folder, jobs, sources, context, verbose=verbose)
    name = str(tree.header["name"])
    library = next(
        iter(sorted(folder.rglob(f"lib{name}.so*")) or sorted(folder.rglob(f"lib{name}.*")))
    )
    if inputs.python:
        reporting.say(f"import {name}: in {folder / 'python'}")
    reporting.say(f"{library}  ({time.monotonic() - started:.1f} s)")
    cache = (folder / "CMakeCache.txt").read_text(errors="replace")
    left_out = _CMAKE_LEFT_OUT.search(cache)
    sources_left_out = left_out[1].split(";") if left_out else ()
    for line in describe_omissions(context, inputs, library, sources_left_out, sources):
        reporting.say(line)


@contextmanager
def _alone_in(folder: Path, fails: bool, diagnostics: Diagnostics) -> Iterator[None]:
    """Create a build folder and hold its lock; report E0903 if another run holds it.

    If the run `fails` already, do nothing.
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
                pass  # Reported when the tree is written.
            except OSError as error:
                report_unwritable(error.filename or folder, error.strerror, diagnostics)
        yield


def _folders(paths: tuple[Path, ...], hint: str, diagnostics: Diagnostics) -> list[Path]:
    folders = find_folders(paths, hint, diagnostics)
    _check_names(folders, diagnostics)
    return folders


def _check_names(paths: list[Path], diagnostics: Diagnostics) -> None:
    for path in paths:
        if _NOT_FOR_CMAKE.search(str(path)):
            message = f"{path}: CMake and linkers cannot read this name"
            hint = "rename the folder or file that has a ';', a ',', a quote, a '${' or a line end"
            diagnostics.error("E0905", message, None, hint=hint)
        elif len(os.fsencode(path)) > _LONGEST_PATH:
            message = f"{shorten(str(path))} is too long for compilers"
            diagnostics.error("E0905", message, None, hint="move it to a shorter path")


def _configure(
    output: Path, folder: Path, lists: Mapping[str, list[Path]], build_type: str, inputs: Inputs
) -> None:
    """Run CMake; `lists` are values of its variables."""
    given = [path.resolve() for path in (*inputs.yaml, *derivatives_paths(inputs))]
    yaml = [path for path in given if not _NOT_FOR_CMAKE.search(str(path))]
    package = TARGETS[inputs.target].plan.cmake_package
    command = [
        *(_tool("cmake"), "-S", str(output), "-B", str(folder), "-G", "Ninja"),
        f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}",
        f"-DCMAKE_BUILD_TYPE={build_type}",
        f"-D{package}_DIR={cmake_dir()}",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    lists = {**lists, "OPGEN_YAML": yaml}
    command += [f"-D{name}={';'.join(map(str, paths))}" for name, paths in lists.items()]
    if inputs.extends is not None:
        command.append(f"-DOPGEN_BASE_TREE={inputs.extends.resolve().parent}")
    if not (folder / "CMakeCache.txt").exists():
        _progress("looking for the compiler")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        click.echo(result.stdout + result.stderr, err=True)
        raise SystemExit(1)
    # Parts that are taken from the user's cache, or compiled and kept there (runtime/cmake/opgenCache.cmake).
    for line in result.stdout.splitlines():
        if line.startswith("-- opgen: "):
            _progress(line.removeprefix("-- opgen: "))


def _progress(text: str) -> None:
    """Print the current step, which may take long, on a terminal and in a log alike."""
    click.echo(f"{text} ...", err=True)


def _compile(
    folder: Path,
    jobs: int | None,
    sources: Sequence[Path],
    context: Context,
    *,
    verbose: bool,
    first: bool = False,
) -> None:
    """Compile everything, or the kernel sources `first`; print what fails, with the commands if `verbose`."""
    # Ninja's name for what is made of a source.
    targets = [f"{source}^" for source in sources] if first else []
    command = [_tool("cmake"), "--build", str(folder)]
    if targets:
        command += ["--target", *targets]
    if jobs is not None:
        command += ["-j", str(jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    output: list[str] = []
    is_watched = sys.stderr.isatty()
    for line in process.stdout:
        status = _NINJA_STATUS.match(line)
        if status is None:
            output.append(line)
        elif is_watched:
            show_progress(f"{status[1]}/{status[2]}")
    if is_watched:
        show_progress()
    if process.wait():
        text = "".join(output)
        entries = {
            f"{m.to_write.partition(')')[0]})": m.operator for m in missing_functions(context)
        }
        if not verbose:
            # The places of rows of existing functions, by the functions' names.
            existing = {
                kernel.cpp_name: f.spans.kernel(key).place
                for f in context.registry.functions
                for key, kernel in f.dispatch
                if kernel.source is KernelSource.existing
            }
            text = explain_failure(text, sources, entries, existing)
        click.echo(text, err=True, nl=False)
        if not verbose:
            click.echo("  = help: 'opgen build -v' also prints the compilers' commands", err=True)
        raise SystemExit(1)


def _tool(name: str) -> str:
    """Find the program `name`: in the folder of this Python, where pip installs it, then on the PATH."""
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=str(beside)) or shutil.which(name)
    if found is None:
        raise click.UsageError(f"{name} is not installed; pip install {name}")
    return found


def lint_kernels(inputs: Inputs, kernels: tuple[Path, ...], reporting: Reporting) -> None:
    """Report the problems of kernel sources, and errors of the schema files, but no conventions of these."""
    diagnostics = Diagnostics()
    plan = TARGETS[inputs.target].plan
    sources = find_sources(kernels, plan.kernel_suffixes, None, diagnostics)
    headers = find_folders(inputs.include, "name a folder of headers", diagnostics)
    context = checked_context(with_contents(inputs), diagnostics)
    if context is not None:
        report_kernels(sources, headers, context, inputs, diagnostics)
    reporting.finish(diagnostics)
    if reporting.is_human:
        summary = summarize(diagnostics, hint_fix=False)
        click.echo(f"{counted(len(sources), 'kernel source')}: {summary or 'no problems'}")
