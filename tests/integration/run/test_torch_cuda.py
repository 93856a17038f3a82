"""CUDA rows for torch, compiled against the headers of the wheel and of the toolkit. Without a GPU, only the checks
before kernels run; with one, everything.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, environment, launcher, one_torch_unit, run, tool
from support.torch_extension import strict_environment

HERE = Path(__file__).parent / "torch_cuda"
YAML = HERE / "operators.yaml"

_GUARD = """
#include <type_traits>
using opgen::DispatchKey;
static_assert(std::is_same_v<opgen::detail::DeviceOf<DispatchKey::CUDA>::Guard,
                             c10::cuda::OptionalCUDAGuard>);
"""


@pytest.mark.slow
def test_registrations_parse_with_cuda(tmp_path: Path) -> None:
    """Protects the code for CUDA: guards and allocations by CUDA's own functions, without a warning."""
    command = [*launcher(), tool("g++"), "-fsyntax-only", "-O0", *_flags(tmp_path)]
    source = tmp_path / "unit.cpp"
    source.write_text(f"#include <{tmp_path}/tree/src/RegisterCUDA.cpp>\n{_GUARD}")
    run([*command, "-Wall", "-Wextra", "-Wshadow", "-Werror", source], env=environment())


@pytest.mark.nightly
def test_nvcc_compiles_a_kernel(tmp_path: Path) -> None:
    """Protects the headers that authors include: nvcc reads them twice, for the host and the device."""
    nvcc = shutil.which("nvcc") or str(_toolkit() / "bin/nvcc")
    if not Path(nvcc).is_file():
        pytest.skip("there is no nvcc: no .cu can be compiled")
    object_file = tmp_path / "kernels.o"
    command = [
        nvcc,
        "-c",
        "-arch=sm_80",
        "-O0",
        "--expt-relaxed-constexpr",
        "--extended-lambda",
        *_flags(tmp_path),
    ]
    run([*command, HERE / "kernels.cu", "-o", object_file], env=environment())
    assert "structured_plus_cuda::impl" in run(["nm", "-C", object_file])


@pytest.mark.slow
def test_cuda_rows_without_a_gpu(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Protects the checks before a CUDA kernel in a library whose CUDA kernels cannot be compiled: calls with the key
    CUDA and tensors on other devices. Also protects selective builds.
    """
    _torch_headers()
    selective = ("--select", HERE / "selective.yaml")
    library = _build(tmp_path_factory.mktemp("cuda") / "tree", *selective)
    run([sys.executable, HERE / "without_a_gpu.py", library])


@pytest.mark.nightly
def test_cuda_rows_on_a_gpu(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Protects values: each CUDA operator compared with PyTorch's own, on the device."""
    _torch_headers()
    answer = run([sys.executable, "-c", "import torch; print(torch.cuda.is_available())"])
    if answer.strip() != "True":
        pytest.skip("torch.cuda.is_available() is False: CUDA kernels are not run")
    library = _build(tmp_path_factory.mktemp("cuda") / "tree")
    run([sys.executable, HERE / "on_a_gpu.py", library])


def _build(tree: Path, *options: str | Path) -> Path:
    variables = {**strict_environment(), "CUDAFLAGS": "--expt-relaxed-constexpr"}
    command = [tool("opgen"), "build", YAML, "--target", "torch", "-o", tree, "--kernels", HERE]
    with one_torch_unit():
        run([*command, *options, "--build-type", "None", "-j", "1"], env=variables)
    return tree / "cmake-build" / "libgpu.so"


def _flags(folder: Path) -> list[str]:
    """Return the flags for the generated tree in `folder`. The wheel without CUDA lacks one header, which CMake writes
    and which contains only macros.
    """
    headers, toolkit = _torch_headers(), _toolkit()
    missing = folder / "stand_in/c10/cuda/impl/cuda_cmake_macros.h"
    missing.parent.mkdir(parents=True)
    missing.touch()
    run([tool("opgen"), "generate", YAML, "--target", "torch", "-o", folder / "tree"])
    own = (REPOSITORY / "runtime/torch/include", folder / "tree/include")
    foreign = (headers, folder / "stand_in", toolkit / "include")
    included = [f"-I{path}" for path in own] + [part for p in foreign for part in ("-isystem", p)]
    return ["-std=c++20", "-DOPGEN_TORCH_CUDA", *map(str, included)]


def _torch_headers() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
            pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
        pytest.skip("torch is not installed: there are no headers to compile with")
    return Path(spec.origin).parent / "include"


def _toolkit() -> Path:
    folder = Path(os.environ.get("CUDA_HOME") or "/usr/local/cuda")
    if not (folder / "include/cuda_runtime_api.h").is_file():
        pytest.skip(f"{folder} holds no CUDA toolkit (set CUDA_HOME): nothing compiled for CUDA")
    return folder
