"""The installed runtime, an installed library of operators built on it, and a program that finds both."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, RUNTIME, cmake_build, run, run_program, tool

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "installed"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix in which the command of docs/guides/builds.md has installed the runtime; the first test moves it."""
    folder = tmp_path_factory.mktemp("installed")
    page = (REPOSITORY / "docs/guides/builds.md").read_text()
    (command,) = re.findall(r"`(cmake -S \$\(opgen --cmake-dir\)[^`]*)`", page)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Without optimisation, it takes a third of the time.
    quick = {"CMAKE_BUILD_TYPE": "None", "CXXFLAGS": "-O0"}
    said = run(["sh", "-ec", command], cwd=folder, env={**os.environ, "PATH": path, **quick})
    assert "warning" not in said and "_test" not in said, "it compiles tests, or prints warnings"
    return folder / "P"


def test_an_installation_can_be_moved(installed: Path, tmp_path: Path) -> None:
    """Protects the documented command, and the exported targets: they contain no path of the checkout or of a build
    folder, and a component that does not exist is an error.
    """
    for part in ("core", "kernels", "runtime"):
        assert (installed / f"lib/libopgen_{part}.so").is_file()
    package = installed / "lib/cmake/opgen_runtime"
    assert (package / "opgen_runtimeConfig.cmake").is_file()
    library, prefix = tmp_path / "library", tmp_path / "a prefix"
    cmake_build(
        HERE / "library",
        library,
        f"-Dopgen_DIR={RUNTIME / 'cmake'}",
        f"-DOPGEN_EXECUTABLE={tool('opgen')}",
        f"-Dopgen_runtime_DIR={package}",
        "-DCMAKE_INSTALL_LIBDIR=lib",
    )
    assert not (library / "opgen-runtime").exists(), "the runtime is compiled again"
    run([tool("cmake"), "--install", library, "--prefix", installed])
    shutil.move(installed, prefix)
    shutil.rmtree(library)
    shutil.rmtree(installed.parent)
    cmake_build(HERE / "user", tmp_path / "user", f"-DCMAKE_PREFIX_PATH={prefix}")
    moved = {"LD_LIBRARY_PATH": str(prefix / "lib")}
    assert run_program(tmp_path / "user" / "program", moved) == (0, "6 6\n", "")
    project = tmp_path / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(wrong CXX)\n"
        "find_package(opgen_runtime REQUIRED CONFIG COMPONENTS core engine)\n"
    )
    wrong = subprocess.run(
        [tool("cmake"), "-S", project, "-B", tmp_path / "no", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
    )
    assert wrong.returncode == 1
    assert "no component 'engine', only core, kernels and runtime" in " ".join(wrong.stderr.split())
