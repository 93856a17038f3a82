"""The examples of the guides: all pages' operators compile as one library, and calls return what the pages say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import (
    DEBUG,
    REPOSITORY,
    cache_folder,
    cmake_build,
    environment,
    launcher,
    locked,
    project_definitions,
    require_headers,
    run,
    tool,
)
from support.pages import Page, library, pages, run_commands
from support.torch_extension import build_extension, require_torch

pytestmark = pytest.mark.slow

PAGES = pages()
PROGRAMS = [
    (page, name)
    for page in PAGES
    for name in page.files("runtime")
    if name.endswith(".cpp") and "/" not in name
]
FLAGS = "-Wall -Wextra -Wshadow -Werror"
PROJECT = """\
cmake_minimum_required(VERSION 3.24)
project(photo LANGUAGES CXX)
find_package(opgen REQUIRED CONFIG)
opgen_add_operators(photo PYTHON YAML {yaml} KERNELS {kernels})
"""
PROGRAM = """\
add_executable({target} {source})
target_link_libraries({target} PRIVATE photo)
"""


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder of the library of target runtime, with its package and programs."""
    require_headers()
    folder = cache_folder() / "guides"
    with locked(folder.name):
        made = library(PAGES, "runtime", folder / "source")
        lines = PROJECT.format(
            yaml=" ".join(map(str, made.yaml)), kernels=" ".join(map(str, made.kernels))
        )
        for source in made.programs:
            lines += PROGRAM.format(target=f"{source.parent.name}-{source.stem}", source=source)
        project = folder / "project"
        project.mkdir(exist_ok=True)
        if not (file := project / "CMakeLists.txt").exists() or file.read_text() != lines:
            file.write_text(lines)
        definitions = (f"-DCMAKE_CXX_FLAGS={FLAGS}", f"-DPython_EXECUTABLE={sys.executable}")
        cmake_build(project, folder / "build", *DEBUG, *definitions, *project_definitions())
    return folder / "build"


@pytest.mark.parametrize("page", [p for p in PAGES if p.session("runtime").strip()], ids=str)
def test_sessions(page: Page, built: Path, tmp_path: Path) -> None:
    """Protects every Python session of a guide: it prints what the page shows."""
    same_session(page.session("runtime"), built / "python", tmp_path)


@pytest.mark.parametrize(("page", "name"), PROGRAMS, ids=str)
def test_programs(page: Page, name: str, built: Path) -> None:
    """Protects every C++ program of a guide: it compiles, and prints what the page shows."""
    program = built / f"{page.name}-{Path(name).stem}"
    assert run([program], env={**os.environ, "OPGEN_NUM_THREADS": "2"}) == page.output(name)


def test_the_first_command(tmp_path: Path) -> None:
    """Protects the command with which a reader builds an example: it works as it stands, in the page's folder."""
    require_headers()
    (page,) = (p for p in PAGES if p.name == "kernels")
    library([page], "runtime", tmp_path)
    block = next(b.text for b in page.blocks if b.language == "sh")
    build, python = block.splitlines()
    assert python == "PYTHONPATH=build/cmake-build/python python"
    cached = {"CMAKE_CXX_COMPILER_LAUNCHER": launcher()[0]} if launcher() else {}
    command = build.replace("opgen", tool("opgen"), 1)
    folder = tmp_path / page.name
    run(["sh", "-ec", command], cwd=folder, env={**environment(), **cached})
    same_session(page.session("runtime"), folder / "build/cmake-build/python", tmp_path)


@pytest.mark.parametrize("page", [p for p in PAGES if p.tests()], ids=str)
def test_tests(page: Page, built: Path) -> None:
    """Protects the tests that a guide shows: they pass."""
    run_tests(
        [built.parent / "source" / page.name / name for name in page.tests()], built / "python"
    )


def run_tests(files: list[Path], packages: Path) -> None:
    options = ("-q", "-n0", "-p", "no:cacheprovider", "-o", "addopts=")
    path = os.pathsep.join(map(str, (packages, REPOSITORY / "src")))
    command = [sys.executable, "-m", "pytest", *options, *files]
    run(command, env={**os.environ, "PYTHONPATH": path}, cwd=packages)


def test_address_sanitizer_finds_the_access(tmp_path: Path) -> None:
    """Protects the page about debugging: AddressSanitizer prints the report that the page shows for its kernel."""
    (page,) = (p for p in PAGES if p.name == "debugging")
    made = library([page], "runtime", tmp_path)
    lines = PROJECT.replace("PYTHON ", "").format(
        yaml=" ".join(map(str, made.yaml)), kernels=" ".join(map(str, made.kernels))
    )
    lines += PROGRAM.format(target="demo", source=made.programs[0])
    (tmp_path / "CMakeLists.txt").write_text(lines)
    flags = "-DCMAKE_CXX_FLAGS=-fsanitize=address -g"
    cmake_build(tmp_path, tmp_path / "build", *DEBUG, flags, *project_definitions())
    done = subprocess.run([tmp_path / "build/demo"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    rest = done.stderr
    for part in page.report("smear_demo.cpp"):
        assert part in rest, done.stderr
        rest = rest.split(part, 1)[1]


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package of target torch. All kernels are one unit, because ATen's headers take seconds."""
    require_torch()
    folder = tmp_path_factory.mktemp("guides")
    made = library(PAGES, "torch", folder / "source")
    unit = folder / "all.cpp"
    unit.write_text("".join(f'#include "{path}"\n' for path in made.kernels))
    build_extension(made.yaml, unit, folder / "tree", "--name", "photo", "--python")
    return folder / "tree/cmake-build/python"


def test_adopted_extension(tmp_path: Path) -> None:
    """Protects the page about existing extensions: its files make the extension that its session calls."""
    require_torch()
    (page,) = (p for p in PAGES if p.name == "import")
    library([page], "torch", tmp_path)
    folder = tmp_path / page.name
    run_commands(page, folder)
    yaml, tree = folder / "native_functions.yaml", tmp_path / "tree"
    build_extension(yaml, folder / "csrc", tree, "-I", folder, "--python")
    same_session(page.session("torch"), tree / "cmake-build/python", tmp_path)


WITH_TORCH = [p for p in PAGES if p.session("torch").strip() and p.name != "import"]


@pytest.mark.parametrize("page", WITH_TORCH, ids=str)
def test_sessions_with_torch(page: Page, extension: Path, tmp_path: Path) -> None:
    """Protects the sessions with PyTorch, and that the kernels compile for target torch."""
    same_session(page.session("torch"), extension, tmp_path)


@pytest.mark.parametrize("page", [p for p in PAGES if p.tests("torch")], ids=str)
def test_tests_with_torch(page: Page, extension: Path) -> None:
    """Protects the tests that a guide shows for target torch: they pass."""
    source = extension.parents[2] / "source" / page.name
    run_tests([source / name for name in page.tests("torch")], extension)


def same_session(session: str, packages: Path, folder: Path) -> None:
    file = folder / "session.txt"
    file.write_text(session, encoding="utf-8")
    command = [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", "-o", "REPORT_NDIFF", str(file)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(packages)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
