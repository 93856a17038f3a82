"""`examples/adopt`: the same tests pass on an extension before and after opgen registers its operators."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import (
    DEBUG,
    REPOSITORY,
    environment,
    one_torch_unit,
    require_headers,
    run,
    tool,
)
from support.opgen_wheel import fresh_environment, opgen_packages
from support.pytorch import torch_folder

EXAMPLE = REPOSITORY / "examples" / "adopt"
YAML = "native_functions.yaml"
META = """
import torch, fuse
print(torch._C._dispatch_has_kernel_for_dispatch_key("fuse::add_out", "Meta"))

print("RegisterMeta.cpp" in torch._C._dispatch_dump("fuse::add_out"))
print("so, native_functions.yaml:6" in torch._C._dispatch_dump("fuse::mul"))
try:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.MPS)
    torch.ops.fuse.mul.default.redispatch(keys, torch.ones(2), torch.ones(2))
except NotImplementedError as error:
    print("so, ::fuse::mul_cpu; built without MPS [kernel]" in str(error))
"""


def built(state: str, folder: Path) -> tuple[dict[str, str], str]:
    """Return the environment in which `import fuse` finds the package, built in a copy of its folder, and what the build
    says."""
    torch_folder()
    pytest.importorskip("setuptools")
    require_headers()
    if state == "scikit-build":
        return built_by_cmake(folder)
    package = folder / state
    shutil.copytree(EXAMPLE / state, package)
    if state == "after":
        add_row_for_mps(package)
        run([tool("opgen"), "generate", YAML, "--target", "torch", "-o", "generated"], cwd=package)
    variables = {**environment(), "CFLAGS": "-O0", "MAX_JOBS": "1"}
    # setup.py asks opgen where its headers are.
    variables["PATH"] = f"{Path(tool('opgen')).parent}{os.pathsep}{variables['PATH']}"
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    with one_torch_unit():
        said = run(command, env=variables, cwd=package)
    return {**environment(), "PYTHONPATH": str(package)}, said


def built_by_cmake(folder: Path) -> tuple[dict[str, str], str]:
    """As `built`, for the package that pip builds with scikit-build-core."""
    package = folder / "package"
    shutil.copytree(
        EXAMPLE / "after", package, ignore=shutil.ignore_patterns("setup.py", "generated")
    )
    shutil.copytree(EXAMPLE / "scikit-build", package, dirs_exist_ok=True)
    add_row_for_mps(package)
    python = fresh_environment(
        folder / "environment", opgen_packages()[1], "scikit-build-core>=1.1"
    )
    variables = {**environment(), "PYTHONPATH": "", "CMAKE_ARGS": shlex.join(DEBUG)}
    pip = [python, "-m", "pip", "install", "-v", "--no-deps", "--no-build-isolation"]
    with one_torch_unit():
        said = run([*pip, "--target", folder / "installed", package], env=variables)
    return {**environment(), "PYTHONPATH": str(folder / "installed")}, said


def add_row_for_mps(package: Path) -> None:
    """Add a row whose function is in a source of another build."""
    yaml, header = package / YAML, package / "native_functions_kernels.h"
    row = "    CPU: ::fuse::mul_cpu\n"
    before, after, declaration = yaml.read_text(), header.read_text(), "at::Tensor mul_cpu("
    assert before.count(row) == 1 and after.count(declaration) == 1
    yaml.write_text(before.replace(row, f"{row}    MPS: ::fuse::mul_mps\n"))
    line = next(line for line in after.splitlines() if declaration in line)
    header.write_text(after.replace(line, f"{line}\n{line.replace('mul_cpu', 'mul_mps')}"))


@pytest.mark.parametrize(
    "state",
    [
        # Files that opgen does not use.
        pytest.param("before", marks=pytest.mark.nightly),
        pytest.param("after", marks=pytest.mark.slow),
        pytest.param("scikit-build", marks=pytest.mark.slow),
    ],
)
def test_the_same_tests_pass(state: str, tmp_path: Path) -> None:
    """And each build says which rows it leaves out."""
    variables, built_with = built(state, tmp_path)
    is_said = "1 row is left out for MPS: this PyTorch is built without MPS" in built_with
    assert is_said == (state != "before" and sys.platform != "darwin")
    # Without the options of this repository's own tests.
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
    said = run(
        [*command, "--rootdir", tmp_path, EXAMPLE / "test_fuse.py"], env=variables, cwd=tmp_path
    )
    assert "13 passed" in said
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", META],
        capture_output=True,
        text=True,
        check=True,
        env=variables,
        cwd=tmp_path,
    )
    # Before, the fake kernel in Python serves Meta; after, the generated one. PyTorch's messages name what the author has.
    assert done.stdout.split() == ["True", *[str(state != "before")] * 3]


@pytest.mark.nightly
def test_inductor(tmp_path: Path) -> None:
    """Inductor and AOTInductor give right results with the generated code: for static, dynamic and unknown sizes."""
    variables, _ = built("after", tmp_path)
    script = Path(__file__).parent / "torch_everyday" / "others.py"
    run([sys.executable, script, "fuse", "fuse"], env=variables, cwd=tmp_path)


def test_the_kernels_are_unchanged() -> None:
    """Protects the promise that no kernel is edited: only the registration blocks at the end were removed."""
    before, after = (
        (EXAMPLE / state / "csrc" / "kernels.cpp").read_text() for state in ("before", "after")
    )
    assert before.startswith(after) and before[len(after) :].startswith("\nTORCH_LIBRARY(")
