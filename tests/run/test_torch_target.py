"""One YAML and one kernel source, built for opgen's own runtime and for libtorch; one body of checks runs on both."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import (
    cmake_build,
    environment,
    launcher,
    locked,
    project_definitions,
    run,
    tool,
)
from support.python_package import run_python

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "torch"


def test_on_the_runtime(tmp_path: Path) -> None:
    """Protects the kernels' source: what it says is the runtime's language, too."""
    cmake_build(
        HERE,
        tmp_path,
        "-DCMAKE_BUILD_TYPE=Debug",
        f"-DPython_EXECUTABLE={sys.executable}",
        *project_definitions(),
    )
    run_python("import both, body\nbody.body(both, both.tensor)", tmp_path / "python", HERE)


def test_on_torch(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Protects all that is generated for torch: the same body, then what PyTorch asks
    of operators, and thousands of random calls beside at::add."""
    require_torch()
    folder = tmp_path_factory.mktemp("torch")
    library = build(folder / "tree")
    for script in ("pytorch.py", "aten.py"):
        command = [sys.executable, HERE / script, library]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr[-5000:]}"


def build(tree: Path) -> Path:
    """The torch extension, without optimisation and with every warning an error."""
    variables = {
        **environment(),
        "CXXFLAGS": "-O0 -Wall -Wextra -Wshadow -Werror",
        **({"CMAKE_CXX_COMPILER_LAUNCHER": launcher()[0]} if launcher() else {}),
    }
    command = [tool("opgen"), "build", HERE / "operators.yaml", "--target", "torch", "-o", tree]
    # A unit with ATen's headers takes a gigabyte: one at a time.
    with locked("torch"):
        run([*command, "--kernels", HERE, "--build-type", "None", "-j", "1"], env=variables)
    return tree / "cmake-build" / "libboth.so"


def require_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
            pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
        pytest.skip("torch is not installed: nothing to build target torch against")
