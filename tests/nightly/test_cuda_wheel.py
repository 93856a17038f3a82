"""Build libraries with the CUDA wheel that `pip install torch` installs on Linux, on a machine without a CUDA toolkit.

The wheel is fetched without its dependencies, and never imported: that would take 5 GB. Kernels in .cu files are
compiled by the nvcc of the packages nvidia-*, and linked; nothing runs. tests/integration/run/torch_cuda/on_a_gpu.py
runs them on a machine with a GPU.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from support.build import (
    REPOSITORY,
    cache_folder,
    environment,
    launcher,
    locked,
    one_torch_unit,
    run,
    tool,
)
from support.pytorch import torch_folder

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform != "linux", reason="wheels with CUDA are for Linux"),
]
COMPILER = ("cuda-nvcc", "cuda-crt", "cuda-runtime", "cuda-cccl", "nvvm")

PLUS = """\
- func: custom::plus(Tensor self, Tensor other) -> Tensor
  structured_delegate: plus.out

- func: custom::plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: plus_out_cpu
    CUDA: plus_out_cuda
"""


@pytest.fixture(scope="module")
def site() -> Path:
    """A folder of packages with the release of torch that is installed here, but as the index has it for Linux."""
    torch_folder()
    folder = cache_folder() / "cuda-wheel"
    version = metadata.version("torch").partition("+")[0]
    with locked("cuda-wheel"):
        if not (folder / "torch" / "version.py").is_file():
            # The index is named, because pip may be set up to find a build of the same release for the CPU.
            install(folder, f"torch=={version}", "--index-url", "https://pypi.org/simple")
    if "cu" not in version_of(folder):
        pytest.skip(f"the index has torch {version_of(folder)} for this machine, without CUDA")
    return folder


@pytest.fixture(scope="module")
def site_with_nvcc(site: Path) -> Path:
    cuda = re.search(r"cuda[^=]*= *'([\d.]+)'", (site / "torch" / "version.py").read_text())
    assert cuda
    if int(cuda[1].split(".")[0]) < 13:
        pytest.skip("the packages of CUDA 12 have no nvcc")
    with locked("cuda-wheel"):
        if not (site / "nvidia").is_dir():
            # In one call: pip adds nothing to a folder that another call has made.
            install(site, *(f"nvidia-{name}=={cuda[1]}.*" for name in COMPILER))
    return site


def install(folder: Path, *arguments: str) -> None:
    # The variable is removed, because a folder of wheels may hold a torch for the CPU.
    variables = {k: v for k, v in os.environ.items() if k != "PIP_FIND_LINKS"}
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
    done = subprocess.run(
        [*map(str, command), *arguments],
        env={**variables, "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"pip could not fetch {arguments[0]}: {done.stderr[-500:]}")


def version_of(site: Path) -> str:
    found = re.search(r"__version__ = '(.*)'", (site / "torch" / "version.py").read_text())
    assert found
    return found[1]


def build(site: Path, yaml: Path, kernels: Path, tree: Path) -> Path:
    """Run `opgen build` with no nvcc on the PATH or in the environment; return the library."""
    ours = (tool("opgen"), tool("ninja"), tool("cmake"))
    hidden = ("CUDA_HOME", "CUDA_PATH", "CUDACXX", "CUDAToolkit_ROOT")
    variables = {k: v for k, v in environment().items() if k not in hidden}
    variables |= {
        "PATH": os.pathsep.join(
            [*dict.fromkeys(str(Path(one).parent) for one in ours), "/usr/bin", "/bin"]
        ),
        "Torch_DIR": str(site / "torch" / "share" / "cmake" / "Torch"),
        "CXXFLAGS": "-O0 -Wall -Wextra -Wshadow -Werror",
        "CUDAARCHS": "90-real",
        **({"CMAKE_CXX_COMPILER_LAUNCHER": launcher()[0]} if launcher() else {}),
    }
    command = [tool("opgen"), "build", yaml, "--target", "torch", "-o", tree, "--kernels", kernels]
    with one_torch_unit():
        run([*command, "--build-type", "None", "-j", "1"], env=variables)
    (library,) = (tree / "cmake-build").glob("lib*.so")
    return library


def needed(library: Path) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(\S+?)\.so", run(["readelf", "-d", library])))


def test_a_library_without_cu_files_needs_no_toolkit(site: Path, tmp_path: Path) -> None:
    """Protects most users: their torch has CUDA, their operators do not, their machine has no toolkit."""
    (tmp_path / "ops.yaml").write_text(PLUS)
    (tmp_path / "kernels").mkdir()
    plus = re.search(
        r"```cpp\n(#include.*?)```", (REPOSITORY / "docs/reference/torch.md").read_text(), re.S
    )
    assert plus and "plus_out_cpu" in plus[1]
    (tmp_path / "kernels" / "plus.cpp").write_text(plus[1])
    library = build(site, tmp_path / "ops.yaml", tmp_path / "kernels", tmp_path / "tree")
    assert needed(library) >= {"libtorch", "libtorch_cpu", "libc10"}
    assert not [name for name in needed(library) if "cud" in name]
    assert "CUDA_COMPILER" not in (tmp_path / "tree/cmake-build/CMakeCache.txt").read_text()
    # The torch of this environment is of the same release, so it can load the library.
    program = "import sys, torch; torch.ops.load_library(sys.argv[1]); print(torch.ops.custom.plus(*torch.ones(2)))"
    assert run([sys.executable, "-c", program, library]) == "tensor(2.)\n"


def test_cu_files_are_compiled_by_the_packages_nvcc(site_with_nvcc: Path, tmp_path: Path) -> None:
    """An add, two reductions and a rms_norm for CUDA are compiled, and linked with no symbol missing."""
    cases = REPOSITORY / "tests" / "integration" / "run" / "torch_cuda"
    library = build(site_with_nvcc, cases / "operators.yaml", cases, tmp_path / "tree")
    assert needed(library) >= {"libtorch", "libtorch_cpu", "libc10", "libtorch_cuda", "libc10_cuda"}
    cache = (tmp_path / "tree/cmake-build/CMakeCache.txt").read_text()
    assert re.search(rf"CMAKE_CUDA_COMPILER:\w+={site_with_nvcc}/nvidia/cu\d+/bin/nvcc\n", cache)
    symbols = run(["nm", "-C", "--defined-only", library])
    for name in ("plus", "total", "sum_of", "rms_norm"):
        assert f"structured_{name}_cuda::impl(" in symbols, name


def test_the_example(site_with_nvcc: Path, tmp_path: Path) -> None:
    """Protects examples/cuda, as far as a machine without a GPU can: its kernel is compiled, and linked."""
    example = REPOSITORY / "examples" / "cuda"
    yaml, kernels = example / "native_functions.yaml", example / "kernels"
    library = build(site_with_nvcc, yaml, kernels, tmp_path / "tree")
    assert needed(library) >= {"libtorch_cuda", "libc10_cuda"}
    symbols = run(["nm", "-C", "--defined-only", library])
    assert "structured_rms_norm_cuda::impl(" in symbols
