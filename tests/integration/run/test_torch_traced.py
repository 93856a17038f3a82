"""Operators that PyTorch traces, differentiates, functionalizes and batches, as a package with its author's Python
code.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

FOLDER = Path(__file__).parent / "torch_traced"
pytestmark = pytest.mark.slow


def test_traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects register_autograd without a warning, fakes from YAML and Python, composites, vmap, effects, and the
    messages of errors.
    """
    require_torch()
    keep_no_graphs(monkeypatch)
    build_extension(
        FOLDER / "traced.yaml", FOLDER / "traced.cpp", tmp_path, "--name", "traced", "--python"
    )
    package = tmp_path / "cmake-build" / "python" / "traced"
    shutil.copy(FOLDER / "python" / "ops.py", package)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    assert run_script(FOLDER / "checks.py") == "ok\n"
    ops = package / "ops.py"
    ops.write_text(ops.read_text().replace("traced::shifted", "traced::scale"))
    script = tmp_path / "missing.py"
    script.write_text("import traced")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    missing = "traced/ops.py registers no kernel of traced::shifted for CPU: write a function after the line"
    assert f'{missing} @torch.library.impl("traced::shifted", "CPU")' in done.stderr, done.stderr
