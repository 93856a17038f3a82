"""CMake, and generated packages, without PyTorch or with the wrong release: a clear error before anything is compiled.

The CMake projects use no language, so that no compiler is looked for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Opgen

from opgen.data import cmake_dir
from support.build import tool

PROJECT = """\
cmake_minimum_required(VERSION 3.24)
project(mylib LANGUAGES NONE)
find_package(opgen_torch {version} REQUIRED CONFIG)
message(STATUS "found")
"""


def configure(folder: Path, *definitions: str, version: str = "") -> str:
    """Run CMake and return its output, its lines joined."""
    (folder / "CMakeLists.txt").write_text(PROJECT.format(version=version))
    command = [tool("cmake"), "-S", folder, "-B", folder / "build", "-G", "Ninja"]
    command += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-Dopgen_torch_DIR={cmake_dir()}"]
    done = subprocess.run([*command, *definitions], capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split())


def fake_torch(folder: Path, version: str) -> Path:
    """Write a TorchConfig.cmake of a made-up release."""
    folder.mkdir()
    (folder / "TorchConfig.cmake").write_text("add_library(torch INTERFACE IMPORTED)\n")
    (folder / "TorchConfigVersion.cmake").write_text(f'set(PACKAGE_VERSION "{version}")\n')
    return folder


def test_cmake_without_torch(tmp_path: Path) -> None:
    """CMake finds a Python that has no packages at all."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    python.chmod(0o755)
    said = configure(tmp_path, f"-DPython_EXECUTABLE={python}")
    assert f"torch is not installed for {python}: pip install torch, or set Torch_DIR" in said


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("2.8.0", "too old: opgen needs 2.9 or newer"),
        (
            "2.16.0",
            "torch 2.16.0 is newer than 2.15, the newest release that opgen was tested with",
        ),
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
    """`find_package(opgen_torch 0.1)` gets the version from opgen.__version__."""
    folder = fake_torch(tmp_path / "torch", "2.13.0")
    assert "-- found" in configure(tmp_path, f"-DTorch_DIR={folder}", version="0.1")
    refused = configure(tmp_path, "--fresh", f"-DTorch_DIR={folder}", version="9.9")
    assert "-- found" not in refused and "version: 0.1.0" in refused


def test_opgen_build_reports_it_before_it_writes(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    Path("custom.yaml").write_text("- func: custom::foo(Tensor self) -> Tensor\n")
    result = opgen("build", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 1 and not Path("out").exists()
    assert f"error[E0916]: torch is not installed for {sys.executable}" in result.stderr


@pytest.fixture
def package(opgen: Opgen) -> Path:
    """The folder of a package `custom` without its library; tests add a made-up torch."""
    Path("custom.yaml").write_text(
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
    )
    result = opgen("generate", "custom.yaml", "--target", "torch", "--python", "-o", "out")
    assert result.exit_code == 0
    packages = Path("out/python").resolve()
    (packages / "custom" / "_built_for.py").write_text('TORCH = "2.13.0"\nCUDA = ""\n')
    return packages


def last_line_of_import(packages: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-S", "-c", "import custom"],
        env={"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.splitlines()[-1]


def test_a_package_refuses_another_release_than_its_own(package: Path) -> None:
    """Protects against undefined symbols, and worse, if PyTorch was replaced after the package was built."""
    (package / "torch.py").write_text('__version__ = "2.14.1+cpu"\n')
    assert last_line_of_import(package) == (
        "ImportError: custom was built for torch 2.13.0, but torch 2.14.1+cpu is installed: "
        "build it again, or pip install 'torch==2.13.*'"
    )


def test_a_package_without_torch_names_the_release_to_install(package: Path) -> None:
    assert last_line_of_import(package) == (
        "ImportError: custom needs PyTorch 2.13: pip install 'torch==2.13.*'"
    )


@pytest.mark.parametrize(("cuda", "words"), [("None", "has no CUDA"), ("'12.8'", "has CUDA 12.8")])
def test_kernels_for_cuda_need_a_torch_with_it(cuda: str, words: str, package: Path) -> None:
    (package / "custom" / "_built_for.py").write_text('TORCH = "2.13.0"\nCUDA = "13.0"\n')
    (package / "torch").mkdir()
    (package / "torch" / "__init__.py").write_text(
        'from torch import version\n__version__ = "2.13.1"\n'
    )
    (package / "torch" / "version.py").write_text(f"cuda = {cuda}\n")
    assert last_line_of_import(package) == (
        f"ImportError: custom has kernels for CUDA 13.0, but the installed torch 2.13.1 {words}: "
        "install a torch for that CUDA version, or build custom again"
    )


def test_a_library_that_cannot_be_loaded(package: Path) -> None:
    """Protects the releases in the message: an undefined symbol alone tells a user nothing."""
    (package / "torch.py").write_text(
        "import ctypes, types\n__version__ = '2.13.1'\n"
        "ops = types.SimpleNamespace(load_library=lambda path: ctypes.CDLL(str(path)))\n"
    )
    library = package / "custom" / "libcustom.so"
    assert last_line_of_import(package) == (
        f"ImportError: {library}, built for torch 2.13.0, cannot be loaded with torch 2.13.1: {library}: "
        "cannot open shared object file: No such file or directory"
    )
