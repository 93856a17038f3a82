"""One YAML and one kernel source, built for opgen's own runtime and for libtorch; one body of checks runs on both."""

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
    """Protects the kernels' source: what it says is the runtime's language, too."""
    cmake_build(
        HERE,
        tmp_path,
        *DEBUG,
        # As other tests compile the module's common part, which ccache then has.
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror",
        f"-DPython_EXECUTABLE={sys.executable}",
        *project_definitions(),
    )
    run_python("import both, body\nbody.body(both, both.tensor)", tmp_path / "python", HERE)


def test_on_torch(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Protects all that is generated for torch: the same body, then what PyTorch asks
    of operators, and thousands of random calls beside at::add."""
    require_torch()
    library = build_extension(
        HERE / "operators.yaml", HERE, tmp_path_factory.mktemp("torch") / "tree"
    )
    for script in ("pytorch.py", "aten.py"):
        run_script(HERE / script, library)
