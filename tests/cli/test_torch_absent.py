"""CMake, and the package that is made, where there is no PyTorch or another one: plain words, before anything is compiled.

CMake is given a project without a language, so that no compiler is looked for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Opgen

from opgen.resources import cmake_dir
from support.build import tool

PROJECT = """\
cmake_minimum_required(VERSION 3.24)
project(mylib LANGUAGES NONE)
find_package(opgen_torch {version} REQUIRED CONFIG)
message(STATUS "found")
"""


def configure(folder: Path, *definitions: str, version: str = "") -> str:
    """What CMake says, its lines joined."""
    (folder / "CMakeLists.txt").write_text(PROJECT.format(version=version))
    command = [tool("cmake"), "-S", folder, "-B", folder / "build", "-G", "Ninja"]
    command += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-Dopgen_torch_DIR={cmake_dir()}"]
    done = subprocess.run([*command, *definitions], capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split())


def fake_torch(folder: Path, version: str) -> Path:
    """TorchConfig.cmake of a release that is made up."""
    folder.mkdir()
    (folder / "TorchConfig.cmake").write_text("add_library(torch INTERFACE IMPORTED)\n")
    (folder / "TorchConfigVersion.cmake").write_text(f'set(PACKAGE_VERSION "{version}")\n')
    return folder


def test_cmake_without_torch(tmp_path: Path) -> None:
    """A Python that has no packages at all."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    python.chmod(0o755)
    said = configure(tmp_path, f"-DPython_EXECUTABLE={python}")
    assert f"torch is not installed for {python}: pip install torch, or set Torch_DIR" in said


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("2.8.0", "too old: opgen needs 2.9 or newer"),
        ("2.16.0", "torch 2.16.0 is newer than 2.15, the last that opgen was tried with"),
        ("2.9.1", "found"),
        ("2.15.7", "found"),
    ],
)
def test_cmake_and_releases(version: str, words: str, tmp_path: Path) -> None:
    folder = fake_torch(tmp_path / "torch", version)
    said = configure(tmp_path, f"-DTorch_DIR={folder}")
    assert words in said
    assert ("-- found" in said) == (version != "2.8.0")


def test_cmake_knows_the_version_of_opgen(tmp_path: Path) -> None:
    """Protects the one place that says it: `find_package(opgen_torch 0.1)` is answered from opgen.__version__."""
    folder = fake_torch(tmp_path / "torch", "2.13.0")
    assert "-- found" in configure(tmp_path, f"-DTorch_DIR={folder}", version="0.1")
    refused = configure(tmp_path, "--fresh", f"-DTorch_DIR={folder}", version="9.9")
    assert "-- found" not in refused and "version: 0.1.0" in refused


def test_opgen_build_says_so_before_it_writes(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    Path("custom.yaml").write_text("- func: custom::foo(Tensor self) -> Tensor\n")
    result = opgen("build", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 1 and not Path("out").exists()
    assert f"error[E0916]: torch is not installed for {sys.executable}" in result.stderr


def test_a_package_refuses_another_release_than_its_own(opgen: Opgen, tmp_path: Path) -> None:
    """Protects against undefined symbols, and worse, where PyTorch was exchanged under a package."""
    Path("custom.yaml").write_text(
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
    )
    assert (
        opgen("generate", "custom.yaml", "--target", "torch", "--python", "-o", "out").exit_code
        == 0
    )
    packages = Path("out/python").resolve()
    (packages / "custom" / "_built_for.py").write_text('TORCH = "2.13.0"\n')
    (packages / "torch.py").write_text('__version__ = "2.14.1+cpu"\n')
    command = [sys.executable, "-c", "import custom"]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(packages)}, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == (
        "ImportError: custom was built for torch 2.13.0, and torch 2.14.1+cpu is installed: build it again"
    )
