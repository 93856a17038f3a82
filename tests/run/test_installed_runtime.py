"""The runtime installed, a library of operators built on that and installed, and a program that finds both."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.build import RUNTIME, cmake_build, run, run_program, runtime_library, tool

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "installed"


def test_what_is_installed_is_found_wherever_it_is_moved(tmp_path: Path) -> None:
    """Protects the exported targets: nothing of the checkout or of a build folder is in what they say."""
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
