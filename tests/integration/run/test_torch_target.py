"""One YAML and one kernel source, built for opgen's own runtime and for libtorch; the same checks run on both."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.build import DEBUG, cmake_build, project_definitions
from support.python_package import run_python
from support.torch_extension import build_extension, require_torch, run_script

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "torch_target"


def test_on_the_runtime(tmp_path: Path) -> None:
    """Protects the kernels' source: it is valid for the runtime, too."""
    cmake_build(
        HERE,
        tmp_path,
        *DEBUG,
        # With the flags of other tests, so that ccache has the module's common part already.
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror",
        f"-DPython_EXECUTABLE={sys.executable}",
        *project_definitions(),
    )
    run_python("import both, body\nbody.body(both, both.tensor)", tmp_path / "python", HERE)


@pytest.mark.parametrize("target", ["torch", "torch-stable"])
def test_on_torch(target: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Protects everything generated for torch: the same checks, then PyTorch's requirements for operators, and
    thousands of random calls compared with at::add.
    """
    require_torch()
    tree = tmp_path_factory.mktemp("torch") / "tree"
    library = build_extension(HERE / "operators.yaml", HERE, tree, target=target)
    for script in ("pytorch.py", "aten.py"):
        run_script(HERE / script, library)
