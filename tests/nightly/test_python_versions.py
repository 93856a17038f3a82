"""Packages for every CPython that is promised and that this machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, cache_folder, locked, run

pytestmark = pytest.mark.nightly

_TESTS = ("tests/run/test_python_module.py", "tests/run/test_python_safety.py")


def _interpreter(version: str) -> str | None:
    """An installed CPython of that version; a shim of pyenv may stand for none."""
    installed = Path.home() / ".pyenv" / "versions"
    found = [shutil.which(f"python{version}"), *map(str, installed.glob(f"{version}*/bin/python"))]
    asked = f"import sys; assert sys.version_info[:2] == ({version.replace('.', ', ')})"
    for python in filter(None, found):
        if subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_calls_with_this_python(version: str) -> None:
    """Protects the range of versions: all tests of calls pass when compiled for and run by each."""
    python = _interpreter(version)
    if python is None:
        pytest.skip(f"there is no CPython {version}")
    folder = cache_folder() / f"venv-{version}"
    with locked(folder.name):
        if not (folder / "ready").exists():
            run([python, "-m", "venv", "--clear", str(folder)])
            run([folder / "bin" / "python", "-m", "pip", "install", "-q", "numpy"])
            (folder / "ready").touch()
    run(
        [sys.executable, "-m", "pytest", "-q", "-m", "slow", *_TESTS],
        cwd=REPOSITORY,
        env={**os.environ, "OPGEN_TEST_PYTHON": str(folder / "bin" / "python")},
    )
