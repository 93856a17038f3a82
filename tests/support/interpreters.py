"""Other CPython versions on this machine, each in its own virtual environment."""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import subprocess
from pathlib import Path

import pytest

from support.build import cache_folder, locked, run

# The versions that opgen supports. A test for a version that is not installed is skipped.
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def requirements() -> tuple[str, ...]:
    """Return what pip installs with opgen, without extras."""
    every = importlib.metadata.requires("opgen") or ()
    return tuple(requirement for requirement in every if "extra ==" not in requirement)


def venv_of(version: str, *packages: str) -> str:
    """Return the Python of an environment of CPython `version` with `packages`; skip the test if that version is
    not installed.
    """
    python = _interpreter(version)
    if python is None:
        pytest.skip(f"there is no CPython {version}")
    digest = hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()[:8]
    folder = cache_folder() / f"venv-{version}-{digest}"
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
