"""The runtime, our own operators and an example, cross-compiled for aarch64, and the example run by QEMU."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opgen.data import cmake_dir
from support.build import REPOSITORY, WARNINGS, cmake_build, run, tool

pytestmark = pytest.mark.nightly

_COMPILER = "aarch64-linux-gnu-g++"
_SYSTEM = "/usr/aarch64-linux-gnu"


def _definitions() -> list[str]:
    if shutil.which(_COMPILER) is None:
        pytest.skip(f"{_COMPILER} is not installed")
    flags = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": _COMPILER,
        "CMAKE_CXX_FLAGS": " ".join([*WARNINGS, "-O1"]),
        "CMAKE_DISABLE_FIND_PACKAGE_Python": "ON",
        "OPGEN_EXECUTABLE": tool("opgen"),
        "OPGEN_WERROR": "ON",
        "opgen_DIR": cmake_dir(),
    }
    return [f"-D{name}={value}" for name, value in flags.items()]


def test_the_example_runs(tmp_path: Path) -> None:
    """Protects users of other processors: vectors, atomics and calls for x86-64 have other forms there."""
    emulator = shutil.which("qemu-aarch64")
    definitions = _definitions()
    if emulator is None:
        pytest.skip("qemu-aarch64 is not installed")
    example = REPOSITORY / "examples/myadd"
    cmake_build(example, tmp_path, *definitions)
    printed = run([emulator, "-L", _SYSTEM, tmp_path / "main"])
    expected, _, _ = (
        (example / "expected.txt").read_text().partition("myops.myadd(a, row) from Python")
    )
    assert printed == expected


def test_all_kernels_compile_without_a_warning(tmp_path: Path) -> None:
    """Protects packagers, who compile all of it for aarch64."""
    project = REPOSITORY / "tests/support/own_operators"
    cmake_build(project, tmp_path, *_definitions(), f"-DOWN={REPOSITORY}")
