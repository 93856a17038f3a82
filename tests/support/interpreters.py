"""Other CPython versions on this machine, each in its own virtual environment."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.build import cache_folder, locked, run


def venv_of(version: str, *packages: str) -> str:
    """Return the Python of an environment of CPython `version` with `packages`; skip the test if that version is
    not installed.
    """
    python = _interpreter(version)
    if python is None:
        pytest.skip(f"there is no CPython {version}")
    folder = cache_folder() / f"venv-{version}-{'-'.join(sorted(packages))}"
    with locked(folder.name):
        if not (folder / "ready").exists():
            run([python, "-m", "venv", "--clear", str(folder)])
            if packages:
                run([folder / "bin" / "python", "-m", "pip", "install", "-q", *packages])
            (folder / "ready").touch()
    return str(folder / "bin" / "python")


def _interpreter(version: str) -> str | None:
    """Return an installed CPython of that version. A shim of pyenv alone does not count."""
    installed = Path.home() / ".pyenv" / "versions"
    found = [shutil.which(f"python{version}"), *map(str, installed.glob(f"{version}*/bin/python"))]
    asked = f"import sys; assert sys.version_info[:2] == ({version.replace('.', ', ')})"
    for python in filter(None, found):
        if subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode == 0:
            return python
    return None
