"""The installed runtime, an installed library of operators built on it, and a program that finds both."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, RUNTIME, cmake_build, run, run_program, runtime_library, tool

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "installed"


def test_an_installation_can_be_moved(tmp_path: Path) -> None:
    """Protects the exported targets: they contain no path of the checkout or of a build folder."""
    first, prefix = tmp_path / "first", tmp_path / "a prefix"
    run([tool("cmake"), "--install", runtime_library().parent, "--prefix", first])
    library = tmp_path / "library"
    cmake_build(
        HERE / "library",
        library,
        f"-Dopgen_DIR={RUNTIME / 'cmake'}",
        f"-DOPGEN_EXECUTABLE={tool('opgen')}",
        f"-Dopgen_runtime_DIR={first / 'lib/cmake/opgen_runtime'}",
        "-DCMAKE_INSTALL_LIBDIR=lib",
    )
    assert not (library / "opgen-runtime").exists(), "the runtime is compiled again"
    run([tool("cmake"), "--install", library, "--prefix", first])
    shutil.move(first, prefix)
    shutil.rmtree(library)
    cmake_build(HERE / "user", tmp_path / "user", f"-DCMAKE_PREFIX_PATH={prefix}")
    moved = {"LD_LIBRARY_PATH": str(prefix / "lib")}
    assert run_program(tmp_path / "user" / "program", moved) == (0, "6 6\n", "")


def test_the_documented_command_installs_the_runtime(tmp_path: Path) -> None:
    """Protects the command of docs/guides/builds.md: with no options, it compiles no tests, and prints no warning."""
    page = (REPOSITORY / "docs/guides/builds.md").read_text()
    (command,) = re.findall(r"`(cmake -S \$\(opgen --cmake-dir\)[^`]*)`", page)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = run(["sh", "-ec", command], cwd=tmp_path, env={**os.environ, "PATH": path})
    assert "warning" not in said and "_test" not in said
    assert (tmp_path / "P/lib/libopgen_runtime.so").is_file()
    assert (tmp_path / "P/lib/cmake/opgen_runtime/opgen_runtimeConfig.cmake").is_file()
