"""CMake finds an installed PyTorch by its files: with and without CUDA, on Linux and macOS, and without a CUDA
toolkit.

The packages are made up: empty files with the names of those in the wheels. The projects use no language, so that no
compiler is looked for; `tests/nightly/test_cuda_wheel.py` builds with the real ones.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opgen.data import cmake_dir
from support.build import tool

PROJECT = """\
cmake_minimum_required(VERSION 3.24)
project(mylib LANGUAGES NONE)
find_package(opgen_torch REQUIRED CONFIG)
foreach(name OPGEN_TORCH_VERSION OPGEN_TORCH_CUDA INTERFACE_COMPILE_DEFINITIONS)
  get_target_property(value opgen::torch ${name})
  message(STATUS "${name}=${value}")
endforeach()
if(TARGET opgen::libtorch_cpu)
  get_target_property(value opgen::libtorch_cpu IMPORTED_LOCATION)
  message(STATUS "at ${value}")
endif()
"""

# In the order of CMake's own file of targets.
TARGETS = """\
set_target_properties(torch_cpu PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_RPC"
  INTERFACE_LINK_LIBRARIES "protobuf::libprotobuf;c10")
set_target_properties(torch_cuda PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_C10D_NCCL")
"""


def configure(
    folder: Path, more: str = "", *, before: str = "", python: Path | None = None, **variables: str
) -> str:
    """Configure PROJECT, with the commands `before` before it looks for torch and `more` after that; return CMake's
    output, its lines joined.
    """
    project = PROJECT.replace("find_package", f"{before}find_package")
    (folder / "CMakeLists.txt").write_text(project + more)
    command = [tool("cmake"), "-S", folder, "-B", folder / "build", "-G", "Ninja", "--fresh"]
    command += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-Dopgen_torch_DIR={cmake_dir()}"]
    command.append(f"-DPython_EXECUTABLE={python or sys.executable}")
    path = f"{folder}:/bin"
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PATH": path, **variables}
    )
    return " ".join((done.stdout + done.stderr).split())


def made_up_torch(site: Path, version: str, cuda: str | None, suffix: str = ".so") -> Path:
    """Write a package torch into `site`: headers, libraries and its metadata."""
    folder = site / "torch"
    files = {
        "include/torch/library.h": "",
        "__init__.py": "raise AssertionError('imported')\n",
        "version.py": f"__version__ = '{version}'\ncuda: Optional[str] = {cuda!r}\nhip = None\n",
        "share/cmake/Torch/TorchConfig.cmake": 'message(FATAL_ERROR "asked for the toolkit")\n',
        "share/cmake/Caffe2/Caffe2Targets.cmake": TARGETS,
        **{f"lib/lib{name}{suffix}": "" for name in ("torch", "torch_cpu", "c10", "torch_python")},
        **({f"lib/lib{name}{suffix}": "" for name in ("torch_cuda", "c10_cuda")} if cuda else {}),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def python_of(site: Path) -> Path:
    """Return a Python that has only the packages of `site`."""
    python = site / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    return python


@pytest.mark.parametrize(
    ("version", "cuda", "suffix"),
    [("2.13.0+cu130", "13.0", ".so"), ("2.13.1+cpu", None, ".so"), ("2.13.0", None, ".dylib")],
)
@pytest.mark.parametrize("by", ["Python", "Torch_DIR"])
def test_a_wheel(by: str, version: str, cuda: str | None, suffix: str, tmp_path: Path) -> None:
    """Protects everyone who ran `pip install torch` and has no toolkit: PyTorch's own TorchConfig.cmake is not read."""
    folder = made_up_torch(tmp_path / "site", version, cuda, suffix)
    if by == "Python":
        said = configure(tmp_path, python=python_of(tmp_path / "site"))
    else:
        said = configure(tmp_path, Torch_DIR=str(folder / "share/cmake/Torch"))
    assert f"OPGEN_TORCH_VERSION={version.partition('+')[0]} " in said
    assert f"OPGEN_TORCH_CUDA={cuda or ''} " in said
    assert "INTERFACE_COMPILE_DEFINITIONS=USE_DISTRIBUTED;USE_RPC " in said
    assert f"at {folder}/lib/libtorch_cpu{suffix} " in said


def test_libtorch_without_python(tmp_path: Path) -> None:
    folder = made_up_torch(tmp_path / "site", "2.13.0", "13.0")
    (folder / "version.py").unlink()
    (folder / "build-version").write_text("2.13.0+cu126\n")
    said = configure(tmp_path, Torch_DIR=str(folder / "share/cmake/Torch"))
    assert "OPGEN_TORCH_VERSION=2.13.0 " in said and "OPGEN_TORCH_CUDA=12.6 " in said


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.13.0+cu117", "torch 1.13.0 in {folder} is too old: opgen needs "),
        ("2.99.0+cu130", "torch 2.99.0 is newer than "),
    ],
)
def test_releases(version: str, words: str, tmp_path: Path) -> None:
    folder = made_up_torch(tmp_path / "site", version, None)
    said = configure(tmp_path, Torch_DIR=str(folder / "share/cmake/Torch"))
    assert words.format(folder=folder) in said


def test_an_incomplete_torch(tmp_path: Path) -> None:
    folder = made_up_torch(tmp_path / "site", "2.13.0", None)
    (folder / "lib/libc10.so").unlink()
    said = configure(tmp_path, Torch_DIR=str(folder / "share/cmake/Torch"))
    assert f"there is no libc10 in {folder}/lib: this PyTorch is incomplete" in said


def test_a_torch_that_the_project_has_found(tmp_path: Path) -> None:
    """Protects projects that call find_package(Torch) themselves: opgen::torch then uses what they found."""
    found = tmp_path / "found"
    found.mkdir()
    (found / "TorchConfig.cmake").write_text(
        "add_library(torch INTERFACE IMPORTED)\nset(TORCH_LIBRARIES torch /x/libc10.so)\n"
    )
    (found / "TorchConfigVersion.cmake").write_text('set(PACKAGE_VERSION "2.13.0")\n')
    more = 'get_target_property(value opgen::torch INTERFACE_LINK_LIBRARIES)\nmessage(STATUS "links=${value}")'
    said = configure(tmp_path, more, before="find_package(Torch)\n", Torch_DIR=str(found))
    assert "links=torch;torch;/x/libc10.so" in said and "OPGEN_TORCH_VERSION=2.13.0" in said


# The request of a library with the kernel a.cu. No system has CUDA 99, so an installed toolkit is
# not used.
COMPILER = 'opgen_import_cuda(root kernels/a.cu kernels/b.cpp)\nmessage(STATUS "by ${CMAKE_CUDA_COMPILER}")'


def made_up_nvcc(root: Path, release: str, *parts: str) -> Path:
    """Write a toolkit into `root` whose compiler reports `release`, with the files `parts`."""
    nvcc = root / "bin" / "nvcc"
    for file in (nvcc, *(root / part for part in parts)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    nvcc.write_text(
        f'#!/bin/sh\ncase "$1" in --version) echo "Cuda compilation tools, release {release}, V{release}.88";;\n'
        f'*) echo "#$ TOP={root}/bin/.." >&2;; esac\n'
    )
    nvcc.chmod(0o755)
    return nvcc


PARTS = (
    "nvvm/bin/cicc",
    "include/crt/host_config.h",
    "include/cuda_runtime.h",
    "include/cccl/nv/target",
    "lib/libcudart.so.99",
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of Python packages with a torch that was built with CUDA 99.1."""
    made_up_torch(tmp_path / "site", "2.13.0+cu991", "99.1")
    return tmp_path / "site"


def test_no_compiler_for_cuda(site: Path, tmp_path: Path) -> None:
    """Protects the message: which files, which release, and what to install, from the index or for the system."""
    nvcc = made_up_nvcc(tmp_path / "old", "12.4")
    python = python_of(site)
    said = configure(tmp_path, COMPILER, python=python, CUDA_HOME=str(tmp_path / "old"))
    assert (
        "These kernels need nvcc, the compiler of CUDA 99, which was not found: kernels/a.cu"
        in said
    )
    assert f"PyTorch 2.13.0 in {site}/torch was built with CUDA 99.1." in said
    assert f"{nvcc} is from CUDA 12.4" in said
    assert f"{python} -m pip install 'nvidia-cuda-nvcc==99.1.*' 'nvidia-nvvm==99.1.*'" in said
    assert "install the CUDA toolkit 99.1 of the system" in said


def test_the_packages_of_cuda_12_have_no_compiler(tmp_path: Path) -> None:
    made_up_torch(tmp_path / "site", "2.13.0+cu09", "0.9")
    said = configure(tmp_path, COMPILER, python=python_of(tmp_path / "site"))
    assert "To get it: install the CUDA toolkit 0.9 of the system" in said and "pip" not in said


@pytest.mark.parametrize("missing", [0, 3])
def test_a_compiler_with_parts_missing(missing: int, site: Path, tmp_path: Path) -> None:
    """Protects those who installed only nvidia-cuda-nvcc: each package contains a part."""
    root = site / "nvidia" / "cu99"
    made_up_nvcc(root, "99.1", *(part for part in PARTS if part != PARTS[missing]))
    said = configure(tmp_path, COMPILER, python=python_of(site))
    package = ("nvidia-nvvm", "", "", "nvidia-cuda-cccl")[missing]
    assert f"are missing: {root}/{PARTS[missing]} To get it:" in said
    assert f"pip install '{package}==99.1.*' or install" in said


@pytest.mark.parametrize("where", ["wheel", "CUDA_HOME", "CUDACXX", "PATH"])
def test_a_compiler(where: str, site: Path, tmp_path: Path) -> None:
    """Protects the order: first what the environment names, then Python packages, then the PATH."""
    root = site / "nvidia" / "cu99" if where == "wheel" else tmp_path / "toolkit"
    nvcc = made_up_nvcc(root, "99.0", *PARTS)
    if where in ("CUDA_HOME", "CUDACXX"):
        made_up_nvcc(site / "nvidia" / "cu99", "99.1", *PARTS)
    if where == "PATH":
        (tmp_path / "nvcc").symlink_to(nvcc)
        nvcc = tmp_path / "nvcc"
    named = {"CUDA_HOME": {"CUDA_HOME": str(root)}, "CUDACXX": {"CUDACXX": str(nvcc)}}
    said = configure(tmp_path, COMPILER, python=python_of(site), **named.get(where, {}))
    assert f"by {nvcc} " in said


@pytest.mark.slow
def test_without_cuda_kernels_cuda_is_not_required(site: Path, tmp_path: Path) -> None:
    asked = 'opgen_wants_cuda(wants {0})\nmessage(STATUS "wants=${{wants}}")'
    python = python_of(site)
    assert "wants=FALSE" in configure(tmp_path, asked.format("a.cpp"), python=python)
    assert "wants=TRUE" in configure(tmp_path, asked.format("a.cpp b.cu"), python=python)
    forced = "set(OPGEN_CUDA ON)\n" + asked.format("a.cpp")
    assert "wants=TRUE" in configure(tmp_path, forced, python=python)
    made_up_torch(site, "2.13.0+cpu", None)
    assert "wants=FALSE" in configure(tmp_path, asked.format("b.cu"), python=python)
